//! The commands `signpost completions` and `signpost man`, whose output is generated from the
//! definition of the command line.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;
use clap_mangen::Man;
use serde_json::json;

use super::help::{GROUPS, command, examples_of};
use super::{Common, print};

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// Shell
    #[arg(value_enum)]
    shell: ShellName,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ShellName {
    Bash,
    Zsh,
    Fish,
    Elvish,
    Powershell,
}

#[derive(Debug, Args)]
pub(super) struct ManPages {
    /// Folder for the pages of all commands [default: only the page of signpost, on standard
    /// output]
    dir: Option<PathBuf>,
}

impl Completions {
    /// Prints the script of a shell.
    pub(super) fn run(&self, common: &Common) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(Shell::from(self.shell), &mut command(), "signpost", &mut script);
        let script = String::from_utf8(script)?;
        print(common.json, &json!({ "script": script }), || script.trim_end().to_owned())
    }
}

impl ManPages {
    /// Writes the pages into a folder, or prints the first page.
    pub(super) fn run(&self, common: &Common) -> Result<()> {
        let mut root = command().disable_help_subcommand(true);
        root.build();
        let Some(dir) = &self.dir else {
            let (_, page) = man_page(&root)?;
            return print(common.json, &json!({ "page": page }), || page.trim_end().to_owned());
        };
        std::fs::create_dir_all(dir).with_context(|| format!("cannot create the folder {}", dir.display()))?;
        let mut names = Vec::new();
        for (name, page) in man_pages(&root)? {
            let file = dir.join(&name);
            std::fs::write(&file, page).with_context(|| format!("cannot write {}", file.display()))?;
            names.push(name);
        }
        let shown = dir.display().to_string();
        print(common.json, &json!({ "dir": shown, "pages": names }), || {
            format!("wrote {} pages; read them with 'man -l {shown}/signpost.1'", names.len())
        })
    }
}

impl From<ShellName> for Shell {
    fn from(name: ShellName) -> Self {
        match name {
            ShellName::Bash => Self::Bash,
            ShellName::Zsh => Self::Zsh,
            ShellName::Fish => Self::Fish,
            ShellName::Elvish => Self::Elvish,
            ShellName::Powershell => Self::PowerShell,
        }
    }
}

/// Returns the file names and pages of a command and of its subcommands.
fn man_pages(command: &Command) -> Result<Vec<(String, String)>> {
    let mut pages = vec![man_page(command)?];
    for one in command.get_subcommands() {
        pages.extend(man_pages(one)?);
    }
    Ok(pages)
}

fn man_page(command: &Command) -> Result<(String, String)> {
    let name = page_name(command);
    let man =
        Man::new(command.clone()).title(name.to_uppercase()).source(format!("signpost {}", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    let mut page = String::from_utf8(page)?;
    if command.get_name() == "signpost" {
        page.push_str(&grouped_commands(command));
    } else if command.has_subcommands() {
        page.push_str(".SH COMMANDS\n");
        command.get_subcommands().for_each(|one| page.push_str(&listed_command(one)));
    }
    page.push_str(".SH EXAMPLES\n.nf\n");
    for example in examples_of(command) {
        example.lines().try_for_each(|line| writeln!(page, "{}", roff(line)))?;
    }
    page.push_str(".fi\n");
    Ok((format!("{name}.1"), page))
}

/// Returns the commands of the program in the groups of its help.
fn grouped_commands(root: &Command) -> String {
    let mut text = ".SH COMMANDS\n".to_owned();
    for (group, names) in GROUPS {
        writeln!(text, ".SS {}", roff(group)).expect("a text");
        names.iter().filter_map(|name| root.find_subcommand(name)).for_each(|one| text.push_str(&listed_command(one)));
    }
    text
}

fn listed_command(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    format!(".TP\n{}(1)\n{}\n", roff(&page_name(command)), roff(&about))
}

fn page_name(command: &Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

/// Escapes a line of text for roff.
fn roff(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if line.starts_with('.') { format!("\\&{line}") } else { line }
}
