//! The four tools of the ATM locator (specification, §4). Each is a function over the catalogue; the protocol around
//! them is signpost-mcp's.

mod arguments;
mod beyond;
mod check_status;
mod find_nearest;
mod get_details;
mod list_by_city;
mod place;
mod schema;
mod view;

use std::sync::Arc;

use signpost_mcp::{Info, Server};

use crate::atms::Catalogue;
use crate::clock::Clock;

pub(crate) use find_nearest::call as find_nearest;
pub(crate) use get_details::call as get_details;

/// What the tools work with.
#[derive(Clone, Debug)]
pub struct Locator {
    /// The machines and the places.
    pub catalogue: Arc<Catalogue>,
    /// The time.
    pub clock: Clock,
}

/// What a model reads before it uses any tool.
const INSTRUCTIONS: &str = "\
Finds Bitcoin ATMs. Begin with find_nearest_bitcoin_atm: give it the place as the user said it, or coordinates. Use the \
ids it returns for get_atm_details. Distances are in miles unless units is km. Fees at Bitcoin ATMs are high and limits \
differ: tell people to check before they travel. A status says when and why it is believed; 'unknown' means unknown, \
not open.";

/// The server of the four tools, in the order in which they are listed.
#[must_use]
pub fn server() -> Server<Locator> {
    let info = Info {
        name: "signpost".to_owned(),
        title: "Signpost: Bitcoin ATM locator".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        instructions: Some(INSTRUCTIONS.to_owned()),
        ..Info::default()
    };
    Server::new(info)
        .tool(find_nearest::tool())
        .tool(get_details::tool())
        .tool(check_status::tool())
        .tool(list_by_city::tool())
}
