//! The context of tools, resources and prompts.

use std::sync::Arc;

use data_encoding::BASE64;
use serde::Serialize;
use signpost_mcp::Icon;
use signpost_platform::clock::Clock;
use signpost_store::Store;

use super::catalogue::Catalogue;

/// The context of tools, resources and prompts.
#[derive(Clone, Debug)]
pub struct Locator {
    /// The ATMs and the place names.
    pub catalogue: Arc<Catalogue>,
    /// The clock.
    pub clock: Clock,
    /// How clients reach the locator.
    pub deployment: Deployment,
    /// The address of its pages without a trailing slash, if it has any.
    pub pages: Option<String>,
    /// The database, for the details of ATMs that their source no longer lists. A search does not read it.
    pub store: Option<Store>,
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
