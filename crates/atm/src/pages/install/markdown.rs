//! The Markdown version of the installation page, for assistants.

use super::panels::{commands, install_command};
use super::{InstallWords, ServerAddress};

pub(super) fn render(place: &ServerAddress<'_>, words: &InstallWords) -> String {
    let tools = words.tools_by_name().map(|(name, text)| format!("- `{name}`: {text}")).join("\n");
    let title = words.title;
    let Some(address) = &place.address else {
        return format!(
            "# {title}\n\n{} {}\n\n## {}\n\n{tools}\n",
            words.no_address, words.no_address_text, words.tools
        );
    };
    let commands = commands(address).into_iter().chain(["cursor", "vscode"].map(|name| install_command(name, address)));
    let commands: Vec<_> = commands.map(|command| format!("    {command}")).collect();
    format!(
        "# {title}\n\n{}\n\n    {address}\n\n## {}\n\n- Claude: {}\n- ChatGPT: {}\n\n{}\n\n{}\n\n## {}\n\n{tools}\n",
        words.lead,
        words.add_to,
        words.claude_steps,
        words.chatgpt_steps,
        words.terminal_clients,
        commands.join("\n"),
        words.tools
    )
}
