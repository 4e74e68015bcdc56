//! What the docs show of example programs is what stands there, and what tests run or compilers read.

use std::fs;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Whole files that a page shows, with the language that its blocks name, and the most lines that they may have.
const SHOWN: [(&str, &str, &str, usize); 6] = [
    ("docs/integrate.md", "js", "examples/page/site.mjs", 45),
    ("docs/integrate.md", "py", "examples/page/site.py", 45),
    ("docs/integrate.md", "html", "examples/element/page.html", 25),
    ("docs/openid.md", "python", "examples/openid/app.py", 50),
    ("docs/handlers.md", "js", "sdk/typescript/examples/handlers.mjs", 60),
    ("docs/handlers.md", "python", "sdk/python/examples/handlers.py", 60),
];

/// Sites that the guide calls by their length.
const COUNTED: [&str; 1] = ["examples/element/site.mjs"];

/// The whole of the tasks in sdk/README.md, by the language that its blocks name.
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
fn the_docs_show_the_examples_as_they_are() {
    for (page, language, file, most) in SHOWN {
        let text = read(file);
        assert!(text.lines().count() <= most, "{file} has grown over {most} lines");
        assert!(read(page).contains(&format!("\n```{language}\n{text}```\n")), "{page} shows another {file}");
    }
}

#[test]
fn the_guide_says_how_long_a_site_is() {
    let guide = read("docs/integrate.md").split_whitespace().collect::<Vec<_>>().join(" ");
    for file in COUNTED {
        let lines = read(file).lines().count();
        let folder = file.rsplit_once('/').expect("a folder").0;
        let told = format!("[{folder}](../{file}), a whole site in {lines} lines");
        assert!(lines <= 60 && guide.contains(&told), "docs/integrate.md does not say: {told}");
    }
}

/// A text without the margins of its lines.
fn without_margins(text: &str) -> String {
    text.lines().map(|line| line.trim_start().to_owned() + "\n").collect()
}

/// The blocks of a page that name a language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let opening = format!("\n```{language}\n");
    page.split(&opening).skip(1).filter_map(|rest| rest.split_once("\n```")).map(|(block, _)| block).collect()
}

#[test]
fn the_tasks_of_the_sdks_stand_in_files_that_compilers_read() {
    let (page, guide) = (read("sdk/README.md"), read("docs/integrate.md"));
    for (language, file) in TASKS {
        let text = without_margins(&read(file));
        let tasks = blocks(&page, language);
        assert!(tasks.len() >= 6, "sdk/README.md shows {} tasks in {language}", tasks.len());
        for block in tasks.into_iter().chain(blocks(&guide, language)) {
            assert!(text.contains(&without_margins(block)), "{file} has not what the docs show:\n{block}");
        }
    }
}
