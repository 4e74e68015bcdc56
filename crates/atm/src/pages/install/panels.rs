//! The installation instructions, with one panel for each MCP client. Radio buttons select a panel, so that no script
//! is needed.

use maud::{Markup, html};

use super::links;
use super::{InstallWords, ServerAddress};

/// Returns the installation commands of the clients with a command line.
pub(super) fn commands(address: &str) -> [String; 3] {
    [
        format!("claude mcp add -s user --transport http signpost {address}"),
        format!("codex mcp add signpost --url {address}"),
        format!("gemini mcp add -s user -t http signpost {address}"),
    ]
}

/// Returns the command of this program that installs the server in a client.
pub(super) fn install_command(client: &str, address: &str) -> String {
    format!("signpost mcp install {client} --url {address}")
}

/// Renders the panels of all clients. The result is empty if the server has no address.
pub(super) fn clients(place: &ServerAddress<'_>, words: &InstallWords) -> Markup {
    let Some(address) = &place.address else { return Markup::default() };
    let panels = [
        ("Claude", steps(place, words, words.claude_steps, Some("signpost mcp install claude-desktop"))),
        ("ChatGPT", steps(place, words, words.chatgpt_steps, None)),
        ("Cursor", buttons(words, &[("Cursor", links::cursor(address))], &install_command("cursor", address))),
        (
            "VS Code",
            buttons(
                words,
                &[
                    ("VS Code", links::vscode("vscode", address)),
                    ("VS Code Insiders", links::vscode("vscode-insiders", address)),
                ],
                &install_command("vscode", address),
            ),
        ),
        (words.terminal, html! { p { (words.terminal_clients) } pre { code { (commands(address).join("\n")) } } }),
        (words.other, html! { p { (words.other_clients) } pre { code { "signpost mcp" } } }),
    ];
    html! {
        section.card.clients aria-labelledby="add-to" {
            h2 #add-to { (words.add_to) }
            fieldset.switch {
                legend.vh { (words.client) }
                @for (at, (name, _)) in panels.iter().enumerate() {
                    input type="radio" name="client" id={ "client-" (at) } checked[at == 0];
                    label for={ "client-" (at) } { (name) }
                }
            }
            div.client-panels {
                @for (at, (name, panel)) in panels.iter().enumerate() {
                    div class={ "stack-sm of-client-" (at) } { h3 { (name) } (panel) }
                }
            }
        }
    }
}

/// Renders the panel of a client that is configured with the address, or with a command if it cannot reach the address.
fn steps(place: &ServerAddress<'_>, words: &InstallWords, steps: &str, command: Option<&str>) -> Markup {
    html! {
        p { (steps) }
        @if !place.is_on_internet() {
            p.soft { (words.not_from_internet) }
            @if let Some(command) = command { pre { code { (command) } } }
        }
    }
}

/// Renders the panel of a client that supports deep links.
fn buttons(words: &InstallWords, links: &[(&str, String)], command: &str) -> Markup {
    html! {
        p { (words.one_button) }
        p.row {
            @for (at, (name, link)) in links.iter().enumerate() {
                a class=(if at == 0 { "btn primary" } else { "btn" }) href=(link) {
                    (icon("M7 2.5V6M13 2.5V6M5 6h10v3a5 5 0 0 1-10 0zM10 14v3.5"))
                    (words.add_to_program) " " (name)
                }
            }
        }
        pre { code { (command) } }
    }
}

/// Renders an icon from its SVG lines.
pub(super) fn icon(lines: &str) -> Markup {
    html! {
        svg width="18" height="18" viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.6"
            stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" { path d=(lines) {} }
    }
}
