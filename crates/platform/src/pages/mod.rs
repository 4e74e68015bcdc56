//! Building blocks of HTML pages: document frame, headers, languages, assets, cookies, forms and
//! error pages.
//!
//! A page consists of a [`Frame`] around its `<main>` element, rendered to a document; an
//! [`HtmlPage`] that adds the headers of every page; and texts from a catalogue with a file for
//! each [`Language`].

pub mod accept;
pub mod assets;
pub mod compressed;
pub mod cookie;
pub mod dates;
pub mod error_page;
pub mod errors;
pub mod form;
pub mod frame;
pub mod href;
pub mod html_page;
pub mod icons;
pub mod language;
pub mod words;

#[cfg(test)]
mod contrast_tests;

pub use assets::Asset;
pub use frame::{Frame, Layout};
pub use html_page::{DeviceUse, HtmlPage};
pub use language::Language;
