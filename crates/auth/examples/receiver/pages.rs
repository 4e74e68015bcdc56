//! The HTML pages of the example.

use signpost_auth::{DomainName, Mode, PublicKey, QrCode, QrData};

/// Returns the page that displays a code and polls for its answer.
pub(crate) fn code(domain: &DomainName, mode: Mode, sid: &str, qr: &QrData, now: i64) -> String {
    let (title, other) = match mode {
        Mode::Login => ("Log in", "<a href=\"/register\">New here? Register</a>"),
        Mode::Register | Mode::Link => ("Register", "<a href=\"/\">Registered? Log in</a>"),
    };
    let (qr_data, expires_in) = (qr.to_string(), qr.expires_at() - now);
    let (svg, link, sid) = (svg(&qr_data), escape(&qr_data), escape(sid));
    let body = format!(
        "<p>Scan this code with your wallet. It asks you to sign for <strong>{domain}</strong>; \
           if it shows another name, stop.</p>\n\
         <div id=\"code\" data-sid=\"{sid}\" data-expires-in=\"{expires_in}\">{svg}</div>\n\
         <p id=\"state\" role=\"status\">Waiting for your wallet.</p>\n\
         <p><a id=\"link\" href=\"{link}\">Open the wallet on this device</a></p>\n\
         <details><summary>The code as text</summary><code id=\"text\">{link}</code></details>\n\
         <p>{other}</p>\n\
         <noscript><p>This page learns that you signed with a little JavaScript; please allow it.</p></noscript>\n\
         <script src=\"/login.js\" defer></script>"
    );
    page(domain, title, &body)
}

/// Returns the page that is shown when no code could be created.
pub(crate) fn no_code(domain: &DomainName) -> String {
    page(domain, "No code", "<p>The login service gave no code. Reload this page to try again.</p>")
}

/// Returns the account page, or a page with a login link if no user is logged in.
pub(crate) fn account(domain: &DomainName, user: Option<&PublicKey>) -> String {
    let Some(user) = user else {
        return page(domain, "Nobody is logged in", "<p><a href=\"/\">Log in</a></p>");
    };
    let key = user.canonical();
    let body = format!(
        "<p>You are logged in as the owner of the key</p>\n<p><code>{key}</code></p>\n\
         <form method=\"post\" action=\"/logout\"><button>Log out</button></form>"
    );
    page(domain, "Your account", &body)
}

fn page(domain: &DomainName, title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} · {domain}</title>\n<link rel=\"stylesheet\" href=\"/style.css\">\n</head>\n\
         <body>\n<main>\n<h1>{title}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )
}

/// Returns a QR code as SVG.
pub(crate) fn svg(text: &str) -> String {
    let too_long = || "<p>The code is too long to draw; use the text below.</p>".to_owned();
    QrCode::from_text(text).map_or_else(too_long, |code| code.svg())
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }
}
