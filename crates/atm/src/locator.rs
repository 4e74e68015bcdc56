//! The context of tools, resources and prompts.

use std::sync::Arc;

use data_encoding::BASE64;
use serde::Serialize;
use signpost_mcp::Icon;
use signpost_platform::clock::Clock;
use url::Url;

use super::catalogue::Catalogue;

/// The context of tools, resources and prompts. It has no store: a search does not read the database.
#[derive(Clone, Debug)]
pub struct Locator {
    /// The ATMs and the place names.
    pub catalogue: Arc<Catalogue>,
    /// The clock.
    pub clock: Clock,
    /// How clients reach the locator.
    pub deployment: Deployment,
    /// The URL of its pages, if it has any.
    pub public_url: Option<Url>,
}

/// The way in which clients reach the locator (ATM locator specification, §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Deployment {
    /// Over the network: `serve`.
    Remote,
    /// One client on this computer: `mcp`.
    Local,
}

/// Returns the icon as a data URL, so that clients fetch nothing.
pub(crate) fn icons() -> Vec<Icon> {
    let data = BASE64.encode(include_bytes!("icon.svg"));
    let src = format!("data:image/svg+xml;base64,{data}");
    vec![Icon { src, mime_type: "image/svg+xml".to_owned(), sizes: vec!["any".to_owned()] }]
}
