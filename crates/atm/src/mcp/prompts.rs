//! Prompts that start a conversation about Bitcoin ATMs.

use futures_util::FutureExt;
use signpost_mcp::{
    CallError, Complete, Content, Contents, Handler, Prompt, PromptArgument, PromptMessage, Role, StringMap,
};

use super::completions;
use super::resources::{self, JSON};
use crate::locator::{Locator, icons};

/// The instruction for every answer about ATMs.
const CARE: &str = "Say for each how its status is known and how old that is; unknown is not open. Remind me that fees \
                    and limits differ and to check before I travel.";

pub(crate) fn all() -> [Prompt<Locator>; 3] {
    [
        Prompt {
            name: "find_atm_near_me",
            title: "Find a Bitcoin ATM near me",
            description: "Finds the nearest Bitcoin ATMs and says which to go to.",
            arguments: vec![location()],
            icons: icons(),
            get: Handler::Sync(|_, arguments, _| {
                let place = &arguments["location"];
                Ok(vec![PromptMessage::user(format!(
                    "Find the Bitcoin ATMs nearest to {place} with find_nearest_bitcoin_atm and tell me which to go \
                     to, with its name, address, distance and status, and one or two others. {CARE}"
                ))])
            }),
        },
        Prompt {
            name: "compare_atms",
            title: "Compare Bitcoin ATMs",
            description: "Compares the Bitcoin ATMs near a place for what you want to exchange.",
            arguments: vec![
                location(),
                argument("amount", "Amount", "How much you want to exchange, such as 200 USD", false, None),
            ],
            icons: icons(),
            get: Handler::Sync(|_, arguments, _| Ok(vec![PromptMessage::user(compare(arguments))])),
        },
        Prompt {
            name: "is_my_atm_open",
            title: "Is my Bitcoin ATM open?",
            description: "Says whether one Bitcoin ATM is open, and how that is known.",
            arguments: vec![argument(
                "atmId",
                "ATM id",
                "The number of the machine, as searches tell it",
                true,
                Some(completions::atm_id),
            )],
            icons: icons(),
            get: Handler::AsyncSilent(|locator, arguments, _| {
                async move { is_open(locator, arguments["atmId"].trim()).await }.boxed()
            }),
        },
    ]
}

fn location() -> PromptArgument<Locator> {
    let description = "Where you are: a city and state, a ZIP code, coordinates";
    argument("location", "Location", description, true, Some(completions::location))
}

fn argument(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    required: bool,
    complete: Option<Complete<Locator>>,
) -> PromptArgument<Locator> {
    PromptArgument { name, title, description, required, complete }
}

fn compare(arguments: &StringMap) -> String {
    let place = &arguments["location"];
    let amount = arguments.get("amount").map(|amount| format!(" to exchange {amount}")).unwrap_or_default();
    format!(
        "Compare the Bitcoin ATMs near {place}{amount}: call find_nearest_bitcoin_atm, then get_atm_details with \
         the atmIds of the three nearest, and set side by side distance, hours, status, what they buy and sell, and \
         limits where they are known. Say plainly what is not known. {CARE}"
    )
}

/// Returns the prompt with the record of the ATM, so that a client without tools can answer too.
async fn is_open(locator: &Locator, id: &str) -> Result<Vec<PromptMessage>, CallError> {
    let contents = Contents::Text(resources::atm(locator, id).await?.json().to_owned());
    let content =
        Content::Resource { uri: resources::ATM.replace("{atmId}", id), mime_type: JSON.to_owned(), contents };
    let question = format!(
        "Is the Bitcoin ATM {id} open now? Answer from this record, and say how its status is known and how old that \
         is; unknown is not open. If it is not open, find others near it with find_nearest_bitcoin_atm."
    );
    Ok(vec![PromptMessage { role: Role::User, content }, PromptMessage::user(question)])
}
