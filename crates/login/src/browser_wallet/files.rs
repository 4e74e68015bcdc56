//! The files that the browser wallet loads: its own modules, and the third-party modules listed in
//! `crates/login/assets/vendor/manifest.tsv`.

use signpost_platform::pages::Asset;

/// Name of the entry module.
pub(super) const SCRIPT_NAME: &str = "wallet.js";
/// Name of the wallet's icon for home screens.
pub(super) const ICON_NAME: &str = "wallet.svg";
/// Name of the list of third-party code and its licences.
pub(super) const NOTICE_NAME: &str = "NOTICE.txt";
/// The service worker, without the list of files that it caches.
pub(super) const SERVICE_WORKER: &str = include_str!("../../assets/wallet/sw.js");

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

/// All files of the browser wallet. Its QR code decoder is loaded only when the user scans a code.
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
