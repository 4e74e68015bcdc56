//! `<signpost-login>`: a custom element for sites that keep the login on a page of their own (docs/integrate.md). Its
//! files have addresses that stay, for they stand in those pages.

use signpost_platform::pages::Asset;

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The element, and the encoder that it draws codes with.
pub const ASSETS: [Asset; 2] = [
    Asset::stable("signpost-login", "js", SCRIPT, include_bytes!("../assets/signpost-login.js")),
    Asset::stable("signpost-qr", "js", SCRIPT, include_bytes!("../assets/signpost-qr.js")),
];
