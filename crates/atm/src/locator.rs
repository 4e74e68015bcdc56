//! What tools, resources and prompts work with.

use std::sync::Arc;

use data_encoding::BASE64;
use serde::Serialize;
use signpost_mcp::Icon;
use signpost_platform::clock::Clock;
use url::Url;

use super::catalogue::Catalogue;

/// What tools, resources and prompts work with. It has no store: a search touches no database.
#[derive(Clone, Debug)]
pub struct Locator {
    /// The ATMs and the places.
    pub catalogue: Arc<Catalogue>,
    /// The time.
    pub clock: Clock,
    /// Where it is used from.
    pub deployment: Deployment,
    /// Where people reach its pages, if they can.
    pub public_url: Option<Url>,
}

/// Where the locator is used from (ATM locator specification, §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Deployment {
    /// Over the network: `serve`.
    Remote,
    /// By one client on the same machine: `mcp`.
    Local,
}

/// The sign on a post, in the document itself: clients fetch nothing from anywhere.
pub(crate) fn icons() -> Vec<Icon> {
    let data = BASE64.encode(include_bytes!("icon.svg"));
    let src = format!("data:image/svg+xml;base64,{data}");
    vec![Icon { src, mime_type: "image/svg+xml".to_owned(), sizes: vec!["any".to_owned()] }]
}
