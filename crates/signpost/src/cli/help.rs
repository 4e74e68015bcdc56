//! Builds the help of the program: commands in groups, with two examples for each command.

use std::fmt::Write;

use clap::{Command, CommandFactory};

use super::Cli;
use super::examples::EXAMPLES;

/// The groups of `signpost --help`, of the man page and of docs/cli.md, each with its commands.
pub const GROUPS: [(&str, &[&str]); 6] = [
    ("Server", &["serve", "demo", "console", "status", "doctor", "config", "completions", "man"]),
    ("Login", &["keys", "domains", "users", "clients", "signing-keys", "deliveries"]),
    ("Integrator's tools", &["listen", "trigger", "webhook", "conformance"]),
    ("Locator", &["atms", "reports", "places", "gazetteer", "advisories", "mcp"]),
    ("Data", &["backup", "move", "migrate", "audit"]),
    ("Wallet", &["wallet"]),
];

const START: &str = "Start with 'signpost demo' to look around, or 'signpost serve'. Neither needs configuration.";

/// The heading of the examples in the help of every command.
pub(super) const EXAMPLES_HEADING: &str = "Examples:";

/// Maximum characters of a line of an example, without its indentation and the backslash, in a terminal of 80 columns.
const EXAMPLE_WIDTH: usize = 74;

/// Returns the definition of the command line, with its help.
#[must_use]
pub fn command() -> Command {
    let command = with_examples(Cli::command(), "");
    let examples = examples(&["signpost demo".to_owned(), "signpost serve".to_owned()]);
    let template = template(&command);
    command.help_template(template).after_help(format!("{START}\n\n{examples}"))
}

/// Returns the examples in a command's help. Long examples have several lines, joined by backslashes.
pub(super) fn examples_of(command: &Command) -> Vec<String> {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (_, lines) = text.split_once(EXAMPLES_HEADING).unwrap_or_default();
    let mut found: Vec<String> = Vec::new();
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        match found.last_mut().filter(|before| before.ends_with('\\')) {
            Some(before) => {
                before.push('\n');
                before.push_str(line.strip_prefix("  ").unwrap_or(line));
            }
            None => found.push(line.trim().to_owned()),
        }
    }
    found
}

/// Adds the examples to the help of a command and of its subcommands. A command that only has subcommands shows two of
/// their examples.
fn with_examples(command: Command, path: &str) -> Command {
    let command = command.mut_subcommands(|one| {
        let path = format!("{path} {}", one.get_name());
        with_examples(one, path.trim_start())
    });
    if let Some((name, own)) = EXAMPLES.iter().find(|(name, _)| *name == path) {
        let lines = own.map(|rest| in_lines(format!("signpost {name} {rest}").trim_end()));
        return command.after_help(examples(&lines));
    }
    if !command.has_subcommands() {
        return command;
    }
    let below: Vec<_> = command.get_subcommands().map(examples_of).collect();
    let firsts = below.iter().filter_map(|own| own.first());
    let others = below.iter().flat_map(|own| own.iter().skip(1));
    let shown: Vec<_> = firsts.chain(others).take(2).cloned().collect();
    let shown = examples(&shown);
    command.after_help(shown)
}

fn examples(lines: &[String]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| format!("  {}", line.replace('\n', "\n  "))).collect();
    format!("{EXAMPLES_HEADING}\n{}", lines.join("\n"))
}

/// Breaks an example before options into lines that fit into a terminal.
fn in_lines(example: &str) -> String {
    let mut parts = example.split(" --");
    let mut lines = vec![parts.next().unwrap_or_default().to_owned()];
    for part in parts {
        match lines.last_mut().filter(|line| line.chars().count() + part.chars().count() + 3 <= EXAMPLE_WIDTH) {
            Some(line) => {
                line.push_str(" --");
                line.push_str(part);
            }
            None => lines.push(format!("    --{part}")),
        }
    }
    lines.join(" \\\n")
}

/// Returns the help template of the program. clap groups options but not subcommands.
fn template(root: &Command) -> String {
    let widest = root.get_subcommands().map(|one| one.get_name().len()).max().unwrap_or_default();
    let mut groups = String::new();
    for (group, names) in GROUPS {
        writeln!(groups, "{group}:").expect("a text");
        for one in names.iter().filter_map(|name| root.find_subcommand(name)) {
            let about = one.get_about().map(ToString::to_string).unwrap_or_default();
            writeln!(groups, "  {:widest$}  {about}", one.get_name()).expect("a text");
        }
        groups.push('\n');
    }
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}'signpost COMMAND --help' says more of a \
         command.\n\nOptions:\n{{options}}{{after-help}}"
    )
}
