//! The four tools of the ATM locator (specification, §4). Each is a function over the catalogue; signpost-mcp
//! implements the protocol.

mod advice;
mod beyond;
mod check_status;
pub mod declare;
mod elsewhere;
mod find_nearest;
mod get_details;
mod id_list;
mod item;
pub mod kinds;
mod left_out;
mod links;
mod list_by_city;
mod nearby_search;
mod normalize;
mod place;
mod record;
mod resolved_location;
mod schema;
mod shorten;
mod similar_name;
mod units;
mod view;

use signpost_mcp::Tool;

use crate::locator::Locator;

pub use find_nearest::{LIMIT, MAX_DISTANCE, call as find_nearest};
pub use get_details::call as get_details;
pub use list_by_city::call as list_by_city;
pub(crate) use normalize::normalize;
pub use place::ask_geocoder;
pub(crate) use place::geocode;

/// Returns all tools, in the order of their list. With an external geocoder, the tools with a location wait for it.
pub(crate) fn all(geocodes: bool) -> [Tool<Locator>; 4] {
    [find_nearest::tool(geocodes), get_details::tool(), check_status::tool(geocodes), list_by_city::tool()]
}
