//! Formats HTTP requests as bytes.

/// Returns a POST request with a JSON body. `headers` are lines that end with `\r\n`.
#[must_use]
pub fn post(path: &str, headers: &str, body: &str) -> Vec<u8> {
    with_body("POST", path, headers, body)
}

/// Returns a PATCH request with a JSON body. `headers` are lines that end with `\r\n`.
#[must_use]
pub fn patch(path: &str, headers: &str, body: &str) -> Vec<u8> {
    with_body("PATCH", path, headers, body)
}

fn with_body(method: &str, path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}");
    format!("{head}content-length: {length}\r\n\r\n{body}").into_bytes()
}

/// Returns a GET request without headers.
#[must_use]
pub fn get(path: &str) -> Vec<u8> {
    get_with(path, "")
}

/// Returns a GET request. `headers` are lines that end with `\r\n`.
#[must_use]
pub fn get_with(path: &str, headers: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n").into_bytes()
}
