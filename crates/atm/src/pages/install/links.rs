//! Deep links that open an MCP client and add this server to it.

use data_encoding::BASE64;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

/// The characters that JavaScript's `encodeURIComponent` encodes.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// Returns the deep link for Cursor. It contains the server's configuration entry in base64, without its name.
pub(super) fn cursor(address: &str) -> String {
    let config = BASE64.encode(json!({ "url": address }).to_string().as_bytes());
    let config = utf8_percent_encode(&config, COMPONENT);
    format!("cursor://anysphere.cursor-deeplink/mcp/install?name=signpost&config={config}")
}

/// Returns the deep link for VS Code or its preview version. `scheme` is the URL scheme of the client.
pub(super) fn vscode(scheme: &str, address: &str) -> String {
    let config = json!({ "name": "signpost", "type": "http", "url": address }).to_string();
    format!("{scheme}:mcp/install?{}", utf8_percent_encode(&config, COMPONENT))
}

#[cfg(test)]
mod tests {
    use percent_encoding::percent_decode_str;
    use serde_json::Value;

    use super::*;

    #[test]
    fn links_match_the_format_of_each_client() {
        let address = "https://atm.example.com/mcp";
        let link = cursor(address);
        let config = link.strip_prefix("cursor://anysphere.cursor-deeplink/mcp/install?name=signpost&config=").unwrap();
        assert!(!config.contains(['+', '/', '=']), "{config}");
        let config = percent_decode_str(config).decode_utf8().unwrap().into_owned();
        let config: Value = serde_json::from_slice(&BASE64.decode(config.as_bytes()).unwrap()).unwrap();
        assert_eq!(config, json!({ "url": address }));
        assert_eq!(
            vscode("vscode-insiders", address),
            "vscode-insiders:mcp/install?%7B%22name%22%3A%22signpost%22%2C%22type%22%3A%22http%22%2C%22url%22%3A%22\
             https%3A%2F%2Fatm.example.com%2Fmcp%22%7D"
        );
    }
}
