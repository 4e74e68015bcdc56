//! What docs/integrate.md shows of `examples/` is what stands there, and what tests run.

use std::fs;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Whole files that the guide shows, with the language that its blocks name, and the most lines that they may have.
const SHOWN: [(&str, &str, usize); 3] = [
    ("js", "examples/page/site.mjs", 40),
    ("py", "examples/page/site.py", 40),
    ("html", "examples/element/page.html", 25),
];

/// Sites that the guide calls by their length.
const COUNTED: [&str; 1] = ["examples/element/site.mjs"];

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(name)).expect("a text")
}

#[test]
fn the_guide_shows_the_examples_as_they_are() {
    let guide = read("docs/integrate.md");
    for (language, file, most) in SHOWN {
        let text = read(file);
        assert!(text.lines().count() <= most, "{file} has grown over {most} lines");
        assert!(guide.contains(&format!("\n```{language}\n{text}```\n")), "docs/integrate.md shows another {file}");
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
