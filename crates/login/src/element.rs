//! The assets of `<signpost-login>`, a custom element for sites that show the login on their own
//! page (docs/integrate.md). The URLs of its files are stable, because those pages contain them.

use signpost_platform::pages::Asset;

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The scripts of the custom element and of its QR code encoder.
pub const ASSETS: [Asset; 2] = [
    Asset::stable("signpost-login", "js", SCRIPT, include_bytes!("../assets/signpost-login.js")),
    Asset::stable("signpost-qr", "js", SCRIPT, include_bytes!("../assets/signpost-qr.js")),
];
