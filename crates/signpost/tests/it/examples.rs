//! The documentation shows the example programs verbatim, and tests or compilers read all of them.

use std::fs;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Files that a page shows completely: page, language of the block, file, maximum number of lines.
const SHOWN: [(&str, &str, &str, usize); 6] = [
    ("docs/integrate.md", "js", "examples/page/site.mjs", 45),
    ("docs/integrate.md", "py", "examples/page/site.py", 45),
    ("docs/integrate.md", "html", "examples/element/page.html", 25),
    ("docs/openid.md", "python", "examples/openid/app.py", 50),
    ("docs/handlers.md", "js", "sdk/typescript/examples/handlers.mjs", 60),
    ("docs/handlers.md", "python", "sdk/python/examples/handlers.py", 60),
];

/// Example sites whose length the guide states.
const COUNTED: [&str; 1] = ["examples/element/site.mjs"];

/// The complete tasks of sdk/README.md, by language of their blocks.
const TASKS: [(&str, &str); 4] = [
    ("ts", "sdk/typescript/examples/tasks.ts"),
    ("python", "sdk/python/examples/tasks.py"),
    ("go", "sdk/go/examples/tasks/main.go"),
    ("rust", "crates/auth/examples/tasks.rs"),
];

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(name)).expect("a text")
}

#[test]
fn docs_show_the_examples_verbatim() {
    for (page, language, file, most) in SHOWN {
        let text = read(file);
        assert!(text.lines().count() <= most, "{file} has grown over {most} lines");
        assert!(read(page).contains(&format!("\n```{language}\n{text}```\n")), "{page} shows another {file}");
    }
}

#[test]
fn guide_states_the_length_of_the_site() {
    let guide = read("docs/integrate.md").split_whitespace().collect::<Vec<_>>().join(" ");
    for file in COUNTED {
        let lines = read(file).lines().count();
        let folder = file.rsplit_once('/').expect("a folder").0;
        let response = format!("[{folder}](../{file}), a whole site in {lines} lines");
        assert!(lines <= 60 && guide.contains(&response), "docs/integrate.md does not contain: {response}");
    }
}

/// Returns the text without indentation.
fn without_margins(text: &str) -> String {
    text.lines().map(|line| line.trim_start().to_owned() + "\n").collect()
}

/// Returns the code blocks of a page in a language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let opening = format!("\n```{language}\n");
    page.split(&opening).skip(1).filter_map(|rest| rest.split_once("\n```")).map(|(block, _)| block).collect()
}

#[test]
fn sdk_tasks_are_in_compiled_files() {
    let (page, guide) = (read("sdk/README.md"), read("docs/integrate.md"));
    for (language, file) in TASKS {
        let text = without_margins(&read(file));
        let tasks = blocks(&page, language);
        assert!(tasks.len() >= 6, "sdk/README.md shows {} tasks in {language}", tasks.len());
        for block in tasks.into_iter().chain(blocks(&guide, language)) {
            assert!(text.contains(&without_margins(block)), "{file} does not contain the block of the docs:\n{block}");
        }
    }
}
