//! What the wallet's page loads: its own modules, and those of others, which `crates/login/assets/vendor/manifest.tsv`
//! names.

use signpost_platform::pages::Asset;

/// The first of the modules.
pub(super) const MODULE: &str = "wallet.js";
/// The sign of the wallet, for a device's home screen.
pub(super) const SIGN: &str = "wallet.svg";
/// What others wrote, and under which licences.
pub(super) const NOTICE: &str = "NOTICE.txt";
/// The worker, without the list of what it keeps.
pub(super) const WORKER: &str = include_str!("../../assets/wallet/sw.js");

const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! own {
    ($stem:literal, $extension:literal, $media_type:expr) => {
        Asset::new(
            $stem,
            $extension,
            $media_type,
            include_bytes!(concat!("../../assets/wallet/", $stem, ".", $extension)),
        )
    };
}

macro_rules! vendored {
    ($stem:literal) => {
        Asset::new($stem, "js", SCRIPT, include_bytes!(concat!("../../assets/vendor/", $stem, ".js")))
    };
}

/// All of them. The decoder is asked for when its person scans, and not before.
pub(super) const FILES: [Asset; 14] = [
    own!("wallet", "js", SCRIPT),
    own!("screens", "js", SCRIPT),
    own!("vault", "js", SCRIPT),
    own!("words", "js", SCRIPT),
    own!("keys", "js", SCRIPT),
    own!("code", "js", SCRIPT),
    own!("handler", "js", SCRIPT),
    own!("camera", "js", SCRIPT),
    own!("wallet", "svg", "image/svg+xml"),
    vendored!("secp256k1"),
    vendored!("english"),
    vendored!("qr/decode"),
    vendored!("qr/index"),
    Asset::new("NOTICE", "txt", "text/plain; charset=utf-8", include_bytes!("../../assets/vendor/NOTICE")),
];
