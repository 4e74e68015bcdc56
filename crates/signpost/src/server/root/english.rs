//! The texts of the front page in English.

use super::RootWords;

pub(super) const ROOT: RootWords = RootWords {
    title: "What runs at",
    lead: "This is a Signpost server. People see it when a site asks them to log in; programs use the addresses below.",
    login: "Login with a wallet",
    login_text: "Sites send people here to log in without a password. If a site sent you here, go back to it and press its \
                 login button again.",
    accounts: "See your accounts and keys here",
    live_api: "Live API",
    sandbox_api: "Sandbox API",
    reference: "Read the API reference",
    description: "Get openapi.yaml",
    locator: "Bitcoin ATMs for assistants",
    locator_text: "An assistant that speaks the Model Context Protocol finds machines near a place here, with what is known \
                   of their status, and since when.",
    mcp_address: "MCP address",
    add_to_assistant: "Add it to your assistant",
    mcp_document: "Read its description",
};
