//! Help of the command line: groups with examples, completions, man pages.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command as Process;

use clap::Command;
use signpost::cli::{self, GROUPS};

use crate::harness::Program;

/// Returns all commands and subcommands, built as for their help.
fn commands() -> Vec<Command> {
    fn walk(command: &Command, found: &mut Vec<Command>) {
        found.push(command.clone());
        command.get_subcommands().filter(|one| one.get_name() != "help").for_each(|one| walk(one, found));
    }
    let (mut root, mut found) = (cli::command(), Vec::new());
    root.build();
    walk(&root, &mut found);
    found
}

fn name(command: &Command) -> String {
    command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned()
}

/// Splits an example into words as a shell does: without quotes, up to a redirection or pipe.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quote): (Vec<Option<String>>, Option<char>) = (vec![None], None);
    for letter in line.chars() {
        let word = words.last_mut().expect("never empty");
        match (letter, quote) {
            (letter, Some(open)) if letter == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (' ', None) if word.is_some() => words.push(None),
            (' ', None) => {}
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    assert_eq!(quote, None, "a quote is open: {line}");
    words.into_iter().flatten().take_while(|word| word != ">" && word != "|").collect()
}

#[test]
fn every_help_has_two_valid_examples() {
    for command in commands() {
        let (short, long) = (command.clone().render_help().to_string(), command.clone().render_long_help().to_string());
        let name = name(&command);
        for help in [&short, &long] {
            let (_, examples) = help.rsplit_once("Examples:\n").unwrap_or_else(|| panic!("no examples: {name}"));
            assert!(examples.lines().all(|line| line.chars().count() <= 78), "too wide for a terminal: {examples}");
            let examples = examples.replace(" \\\n", " ");
            let lines: Vec<_> = examples.trim_end().lines().map(str::trim).collect();
            assert_eq!(lines.len(), 2, "{name}: {lines:?}");
            assert_ne!(lines[0], lines[1], "{name}");
            for line in lines {
                assert!(line == name || line.starts_with(&format!("{name} ")), "{name}: {line}");
                let read = cli::command().try_get_matches_from(words(line));
                assert!(read.is_ok(), "{line}: {}", read.unwrap_err());
            }
        }
    }
}

#[test]
fn examples_are_split_like_shell_words() {
    assert_eq!(words("signpost  a 'b c' \"\" d'e'f > file"), ["signpost", "a", "b c", "", "def"]);
    for line in ["signpost serv", "signpost atms import", "signpost keys create --environment prod --name x"] {
        assert!(cli::command().try_get_matches_from(words(line)).is_err(), "{line}");
    }
}

#[test]
fn every_command_is_in_one_group() {
    let root = cli::command();
    let all: BTreeSet<_> = root.get_subcommands().map(Command::get_name).collect();
    let grouped: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
    assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), all);
    assert_eq!(grouped.len(), all.len(), "a command is in two groups");
    let help = root.clone().render_help().to_string();
    for (group, _) in GROUPS {
        assert!(help.contains(&format!("\n{group}:\n  ")), "{group}");
    }
    for command in root.get_subcommands() {
        let about = command.get_about().expect("every command has a help").to_string();
        let line = help.lines().find(|line| line.split_whitespace().next() == Some(command.get_name()));
        assert!(line.is_some_and(|line| line.ends_with(&about) && line.chars().count() <= 80), "{line:?}");
    }
}

fn run(folder: &Path, arguments: &[&str]) -> String {
    let ended = Program::within(folder, arguments).run();
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{arguments:?}");
    ended.out
}

/// Runs a tool that must be installed.
fn tool(command: &mut Process) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success() && err.is_empty(), "{command:?}: {out}{err}");
    out
}

#[test]
fn bash_completes_subcommands_and_options() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("signpost.bash");
    std::fs::write(&script, run(folder.path(), &["completions", "bash"])).expect("a file");
    tool(Process::new("bash").arg("-n").arg(&script));
    for (typed, expected) in [
        ("signpost dom", &["domains"][..]),
        ("signpost users cred", &["credentials"]),
        ("signpost users credentials re", &["rename", "remove"]),
        ("signpost keys create --environment ", &["live", "sandbox"]),
        ("signpost keys create --sco", &["--scope"]),
        ("signpost completions po", &["powershell"]),
        ("signpost no-such-command-", &[]),
    ] {
        let ask = "source \"$1\"; COMP_WORDS=($2); [[ $2 == *' ' ]] && COMP_WORDS+=(''); \
                   COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); \
                   _signpost signpost \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD - 1]}\"; \
                   printf '%s\\n' \"${COMPREPLY[@]}\"";
        let completed = tool(Process::new("bash").args(["--norc", "-c", ask, "bash"]).arg(&script).arg(typed));
        let completed: BTreeSet<_> = completed.split_whitespace().collect();
        assert_eq!(completed, expected.iter().copied().collect(), "{typed}");
    }
}

#[test]
fn completion_scripts_contain_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(folder.path(), &["completions", shell]);
        for command in cli::command().get_subcommands() {
            assert!(script.contains(command.get_name()), "{shell}: {}", command.get_name());
        }
        let document = Program::within(folder.path(), &["completions", shell, "--json"]).run().json();
        assert_eq!(document["script"].as_str().map(str::trim_end), Some(script.trim_end()), "{shell}");
    }
    let ended = Program::within(folder.path(), &["completions", "csh"]).run();
    assert!(ended.code == Some(2) && ended.err.contains("powershell"), "{}", ended.err);
}

#[test]
fn every_command_has_a_valid_man_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let document = Program::within(folder.path(), &["man", "man1", "--json"]).run().json();
    let pages: BTreeSet<_> =
        document["pages"].as_array().expect("a list").iter().filter_map(|it| it.as_str()).collect();
    let names: Vec<_> = commands().iter().map(|command| format!("{}.1", name(command).replace(' ', "-"))).collect();
    assert_eq!(pages, names.iter().map(String::as_str).collect());
    for page in &pages {
        // groff reports faults in the page, which `man` would render incorrectly.
        let file = folder.path().join("man1").join(page);
        let shown = tool(Process::new("groff").args(["-ww", "-z", "-man", "-K", "utf8", "-T", "utf8"]).arg(&file));
        assert_eq!(shown, "", "{page}");
    }
    let read = |page: &str| {
        let file = folder.path().join("man1").join(page);
        let shown = tool(Process::new("groff").args(["-man", "-K", "utf8", "-T", "utf8", "-P", "-cbou"]).arg(file));
        shown.replace('\u{2010}', "-")
    };
    let page = read("signpost-keys-create.1");
    for expected in ["signpost-keys-create", "--environment", "live", "EXAMPLES", "signpost keys create --environment"]
    {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let page = read("signpost.1");
    for expected in ["Integrator's tools", "signpost-keys(1)", "EXAMPLES", "signpost demo"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    assert_eq!(
        run(folder.path(), &["man"]).trim_end(),
        std::fs::read_to_string(folder.path().join("man1/signpost.1")).expect("a page").trim_end()
    );
    std::fs::write(folder.path().join("file"), "").expect("a file");
    let ended = Program::within(folder.path(), &["man", "file"]).run();
    assert!(ended.failed(1).contains("cannot create the folder file"), "{}", ended.err);
}

#[test]
fn help_requires_no_configuration() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("signpost.toml"), "no = [").expect("a file");
    for arguments in [&["completions", "zsh"][..], &["man"], &["--help"], &["help", "keys", "create"], &["config"]] {
        run(folder.path(), arguments);
    }
}
