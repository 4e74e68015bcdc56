//! The MCP server: its name, its instructions, its tools, resources and prompts.

use signpost_mcp::{Server, ServerInfo};

use super::{card, prompts, resources, tools};
use crate::locator::{Locator, icons};

/// The instructions that a model reads before it uses a tool.
const INSTRUCTIONS: &str = "\
Finds Bitcoin ATMs. Begin with find_nearest_bitcoin_atm: give it the place as the user said it, or coordinates; if the \
user gave no place, ask for a city and state, a ZIP code or coordinates. Use the \
ids it returns for get_atm_details, several at once as atmIds. Distances are in miles unless units is km. Fees at Bitcoin ATMs are high and limits \
differ: tell people to check before they travel. A status says when and why it is believed; 'unknown' means unknown, \
not open.";

/// Creates the server. `geocodes` is whether there is an external geocoder; `card_domain` is the host name of the card
/// in an assistant. Documents that describe the server are generated from it.
#[must_use]
pub fn server(geocodes: bool, card_domain: Option<&str>) -> Server<Locator> {
    let info = ServerInfo {
        name: "signpost".to_owned(),
        title: "Signpost: Bitcoin ATM locator".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        description: Some("Finds Bitcoin ATMs by place name or coordinates, with status and details.".to_owned()),
        website_url: None,
        icons: icons(),
        instructions: Some(INSTRUCTIONS.to_owned()),
    };
    let server = Server::new(info).extension(card::EXTENSION, card::settings()).normalize_arguments(tools::normalize);
    let server = tools::all(geocodes).into_iter().fold(server, Server::tool);
    let server = resources::all().into_iter().chain([card::resource(card_domain)]).fold(server, Server::resource);
    prompts::all().into_iter().fold(server, Server::prompt)
}
