//! Conversion of texts of the document to markup.

use maud::{Markup, PreEscaped, html};

/// Returns the text as markup, with code between backticks and bold text between `**`.
pub(super) fn line(text: &str) -> Markup {
    let escaped = html! { (text.trim()) }.into_string();
    let parts = escaped.split('`').enumerate();
    let marked: String =
        parts.map(|(at, part)| if at % 2 == 1 { format!("<code>{part}</code>") } else { bold(part) }).collect();
    PreEscaped(marked)
}

fn bold(text: &str) -> String {
    let parts = text.split("**").enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { format!("<b>{part}</b>") } else { part.to_owned() }).collect()
}

/// Returns the text as paragraphs, separated by empty lines.
pub(super) fn paragraphs(text: &str) -> Markup {
    let text = text.trim();
    html! { @if !text.is_empty() { @for paragraph in text.split("\n\n") { p { (line(paragraph)) } } } }
}
