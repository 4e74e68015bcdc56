//! Pages of `docs/` that are generated from `config.default.toml` and from the help of the commands.

use std::fmt::Write;
use std::fs;

use clap::{Arg, ArgAction, Command};
use signpost::cli::{self, GROUPS};
use signpost::config::DEFAULT;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/");

const SETTINGS_HEAD: &str =
    "<!-- Made of crates/signpost/config.default.toml by 'make reference'. -->\n\n# Configuration\n";

const COMMANDS_HEAD: &str = "\
<!-- Made of the command line's own help by 'make reference'. -->

# Command line

One program, `signpost`. `signpost serve` runs both services on one port, without any configuration.

- **Output.** With `--json` a command prints one JSON document on standard output and nothing else, with invisible
  characters as escapes. Long work draws a progress bar on a terminal.
- **Exit codes**: 0 done, 1 failed, 2 wrong use. A failure is one line on standard error.
- **Settings** come from flags, variables and files: [configuration.md](configuration.md).
- **Databases.** Only `serve`, `demo`, `move`, `atms import` and `gazetteer import` create what does not exist. Any other
  command that needs a database fails without one: it says which folder it looked in, and how to choose another. A file that is
  not a database, or is incomplete, is named in that line. `atms import --dry-run` creates none either. A PostgreSQL
  database exists where its server is.
";

const API_OPTIONS: &str = "
## API options

`domains`, `users`, `clients`, `deliveries`, `listen`, `trigger` and `status` accept them. With `--api` they use the HTTP API of
a server, with the rights of an API key, and print the target as their first line: on standard output, or on standard error if
standard output is JSON, a secret or a configuration. [integrate.md](integrate.md#without-access-to-the-server) describes what
a key may do. A removal asks for the name of the domain.
";

#[test]
fn the_page_of_settings_is_made_of_the_defaults() {
    assert_current("configuration.md", &settings());
}

#[test]
fn the_page_of_commands_is_made_of_the_help() {
    assert_current("cli.md", &commands());
}

#[test]
#[ignore = "it writes docs/configuration.md and docs/cli.md: make reference; the tests the_page_of_* compare them"]
fn write_the_pages() {
    for (name, page) in [("configuration.md", settings()), ("cli.md", commands())] {
        fs::write(format!("{FOLDER}{name}"), page).expect("a file");
    }
}

fn assert_current(name: &str, made: &str) {
    let page = fs::read_to_string(format!("{FOLDER}{name}")).unwrap_or_default();
    assert!(page == made, "docs/{name} is old: run 'make reference'");
}

/// Returns the settings page. Each paragraph is a comment and its settings; `## ` begins a chapter.
fn settings() -> String {
    let serve = command(&["serve"]);
    let mut page = SETTINGS_HEAD.to_owned();
    for block in DEFAULT.split("\n\n") {
        let (comments, settings): (Vec<_>, Vec<_>) = block.trim().lines().partition(|line| line.starts_with('#'));
        if let Some(chapter) = block.trim().strip_prefix("## ") {
            write!(page, "\n## {chapter}\n").expect("a text");
            continue;
        }
        let settings: Vec<_> = settings.iter().map(|line| line.split_once(" = ").expect("a setting")).collect();
        if let [(key, _), .., (last, _)] = settings.as_slice() {
            let shared = key.bytes().zip(last.bytes()).take_while(|(one, other)| one == other).count();
            write!(page, "\n### `{}*`\n", &key[..shared]).expect("a text");
        } else if let [(key, default)] = settings.as_slice() {
            let flag = format!("--{}", key.replace('_', "-"));
            let has_flag = serve.get_arguments().any(|arg| Some(&flag[2..]) == arg.get_long());
            let flag = if has_flag { format!(", flag `{flag}`") } else { String::new() };
            write!(page, "\n### `{key}`\n\nDefault `{default}`, variable `{}`{flag}.\n", variable(key))
                .expect("a text");
        }
        let text: Vec<_> = comments.into_iter().map(paragraph).collect();
        write!(page, "\n{}\n", text.join("\n")).expect("a text");
        if settings.len() > 1 {
            page.push_str("\n| setting | default | what it counts | variable |\n|---|---|---|---|\n");
        }
        for (key, value) in settings.iter().filter(|_| settings.len() > 1) {
            let (default, what) = value.split_once('#').expect("a comment after each setting");
            writeln!(page, "| `{key}` | `{}` | {} | `{}` |", default.trim(), what.trim(), variable(key))
                .expect("a text");
        }
    }
    page
}

/// Returns a line of a comment; indented lines are examples.
fn paragraph(line: &str) -> String {
    match line.strip_prefix("#   ") {
        Some(example) => format!("\n    {example}\n"),
        None => line.trim_start_matches('#').trim_start().replace('*', "\\*"),
    }
}

fn variable(key: &str) -> String {
    format!("SIGNPOST_{}", key.to_uppercase())
}

fn commands() -> String {
    let root = command(&[]);
    let mut page = COMMANDS_HEAD.to_owned();
    page.push_str("\n## Common options\n\nEvery command accepts them.\n");
    let common: Vec<_> = root.get_arguments().filter(|arg| arg.is_global_set()).collect();
    table(&mut page, common.iter().copied());
    page.push_str(API_OPTIONS);
    let domains = command(&["domains"]);
    let is_common = |arg: &&Arg| common.iter().any(|common| common.get_id() == arg.get_id());
    table(&mut page, domains.get_arguments().filter(|arg| arg.is_global_set() && !is_common(arg)));
    for (group, names) in GROUPS {
        write!(page, "\n## {group}\n").expect("a text");
        for name in names {
            sections(&mut page, root.find_subcommand(name).expect("a command"));
        }
    }
    page
}

/// Returns the declaration of a command, as built for its help.
fn command(path: &[&str]) -> Command {
    let mut root = cli::command();
    root.build();
    path.iter().fold(root, |command, name| command.find_subcommand(name).expect("a command").clone())
}

/// Writes the section of a command that can run, and the sections of its subcommands.
fn sections(page: &mut String, command: &Command) {
    if !command.is_subcommand_required_set() {
        section(page, command);
    }
    command.get_subcommands().filter(|one| one.get_name() != "help").for_each(|one| sections(page, one));
}

fn section(page: &mut String, command: &Command) {
    let name = command.get_bin_name().expect("a name");
    let about = command.get_long_about().or(command.get_about()).expect("every command has a help").to_string();
    let (summary, more) = about.split_once("\n\n").unwrap_or((&about, ""));
    write!(page, "\n### `{name}`\n\n{}.\n", summary.trim_end_matches('.')).expect("a text");
    if !more.is_empty() {
        write!(page, "\n{more}\n").expect("a text");
    }
    let usage = command.clone().render_usage().to_string();
    write!(page, "\n```\n{}\n```\n", usage.trim_start_matches("Usage: ")).expect("a text");
    table(page, command.get_arguments().filter(|arg| !arg.is_global_set()));
    let examples = command.get_after_help().expect("every command has examples").to_string();
    let examples = examples.lines().filter_map(|line| line.strip_prefix("  "));
    write!(page, "\n```sh\n{}\n```\n", examples.collect::<Vec<_>>().join("\n")).expect("a text");
}

fn table<'a>(page: &mut String, arguments: impl Iterator<Item = &'a Arg>) {
    let is_documented =
        |arg: &&Arg| !matches!(arg.get_action(), ArgAction::Help | ArgAction::Version | ArgAction::HelpLong);
    let mut arguments = arguments.filter(is_documented).peekable();
    if arguments.peek().is_some() {
        page.push_str("\n| | |\n|---|---|\n");
    }
    for argument in arguments {
        let help = argument.get_help().expect("every argument has a help").to_string();
        let mut help = help.replace('|', "\\|");
        let values = argument.get_possible_values();
        let values: Vec<_> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
        if argument.get_action().takes_values() && !values.is_empty() {
            write!(help, "; one of {}", values.join(", ")).expect("a text");
        }
        let default: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        if argument.get_action().takes_values() && !default.concat().is_empty() {
            write!(help, " [default: `{}`]", default.join(",")).expect("a text");
        }
        writeln!(page, "| `{argument}` | {help} |").expect("a text");
    }
}
