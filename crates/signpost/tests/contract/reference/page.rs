//! The complete page: contents, rules for all calls, the calls by subject, events, errors.

use maud::{Markup, html};

use super::call::{self, Call};
use super::events;
use super::node::{DOCUMENT, YamlNode};
use super::remedies::REMEDIES;
use super::snippets::{LANGUAGES, Language};
use super::words::{line, paragraphs};

/// Placeholder for the base URL of the API, replaced by the server; `SANDBOX` is for calls that exist only in the
/// sandbox.
pub(super) const BASE: &str = "{{api}}";
pub(super) const SANDBOX: &str = "{{sandbox}}";

pub(super) fn page() -> String {
    let calls = call::all();
    let tags = DOCUMENT.get("tags").expect("tags").rows();
    let main = html! {
        main #main .reference {
            a.skip href="#content" { "Skip the contents" }
            nav #contents .contents aria-labelledby="contents-title" {
                h2 #contents-title { "Contents" }
                ul { (contents(tags, &calls)) }
            }
            div #content .content {
                (head())
                (switch())
                (start())
                @for tag in tags {
                    @if tag.text("name") == "Events" { (events::section(tag)) } @else { (subject(tag, &calls)) }
                }
                (errors())
            }
        }
    };
    // One line per block, so that diffs are readable.
    main.into_string().replace("<section", "\n<section").replace("<pre", "\n<pre").replace("<dt", "\n<dt") + "\n"
}

fn slug(name: &str) -> String {
    name.to_lowercase().replace(' ', "-")
}

fn contents(tags: &[YamlNode], calls: &[Call]) -> Markup {
    html! {
        li { a href="#start" { "Start" } }
        @for tag in tags {
            @let name = tag.text("name");
            li {
                a href={ "#" (slug(name)) } { (name) }
                ul {
                    @if name == "Events" { (events::contents()) }
                    @for call in calls.iter().filter(|call| call.tag == name) {
                        li { a href={ "#" (call.id) } { (line(call.summary)) } }
                    }
                }
            }
        }
        li { a href="#errors" { "Errors" } }
    }
}

fn head() -> Markup {
    html! {
        div.stack-sm {
            h1 { "API reference" }
            p.lead { "Every call, event and error, with its types and bounds. The examples are one story, and what the server "
                "really sent." }
        }
        dl.facts.card {
            dt { "Live" } dd { code { "{{origin}}/v1" } }
            dt { "Sandbox" } dd { code { "{{origin}}/sandbox/v1" } }
            dt { "As a file" } dd { a href="openapi.yaml" { "openapi.yaml" } ", OpenAPI 3.1" }
        }
    }
}

/// Renders the language switch of the whole page, which is always visible.
fn switch() -> Markup {
    html! {
        div.bar {
            a.btn.small.to-contents href="#contents" { "Contents" }
            fieldset.switch {
                legend.vh { "Language of the examples" }
                @for language in LANGUAGES {
                    @let id = format!("in-{}", language.class());
                    input type="radio" name="language" id=(id) value=(language.class()) checked[language == LANGUAGES[0]];
                    label for=(id) { (language.name()) }
                }
            }
        }
    }
}

/// Renders a text in each language; the switch selects the visible language.
pub(super) fn in_languages(texts: &[(Language, String)]) -> Markup {
    html! {
        @for (language, text) in texts {
            figure class={ "code in-" (language.class()) } {
                figcaption { (language.name()) }
                pre { code { (text) } }
            }
        }
    }
}

fn start() -> Markup {
    html! {
        section #start .subject.stack {
            h2 { "Start" }
            (in_languages(&client()))
            (paragraphs(DOCUMENT.at(&["info", "description"]).and_then(YamlNode::as_text).expect("a description")))
        }
    }
}

fn client() -> Vec<(Language, String)> {
    let texts = [
        format!(
            "import {{ Signpost }} from '@signpost/sdk';\n\nconst signpost = new Signpost(process.env.SIGNPOST_KEY, {{\n  baseUrl: '{BASE}',\n}});"
        ),
        format!(
            "import os\nfrom signpost_sdk import Signpost\n\nsignpost = Signpost(\n    os.environ[\"SIGNPOST_KEY\"],\n    base_url=\"{BASE}\",\n)"
        ),
        format!("client := signpost.New(os.Getenv(\"SIGNPOST_KEY\"),\n\tsignpost.WithBaseURL(\"{BASE}\"))"),
        format!(
            "use signpost_auth::client::Signpost;\n\nlet signpost = Signpost::new(std::env::var(\"SIGNPOST_KEY\")?)?\n    .with_base_url(\"{BASE}\")?;"
        ),
        "export SIGNPOST_KEY=svc_test_…".to_owned(),
    ];
    LANGUAGES.into_iter().zip(texts).collect()
}

fn subject(tag: &YamlNode, calls: &[Call]) -> Markup {
    let name = tag.text("name");
    html! {
        section id=(slug(name)) .subject {
            div.stack-sm {
                h2 { (name) }
                p.soft { (line(tag.text("description"))) }
                ul.overview {
                    @for call in calls.iter().filter(|call| call.tag == name) {
                        li { a href={ "#" (call.id) } { (call.address()) " " span { (line(call.summary)) } } }
                    }
                }
            }
            @for call in calls.iter().filter(|call| call.tag == name) { (call.render()) }
        }
    }
}

fn errors() -> Markup {
    html! {
        section #errors .subject.stack {
            h2 { "Errors" }
            p { "The body is " code { "{\"error\": {\"code\", \"message\", \"details\"}}" } ". Programs use " code { "code" }
                "; messages may change. What wallets get at hosted handlers is " code { "{\"error\": \"…\"}" } "." }
            (in_languages(&error_handling()))
            dl.members {
                @for (status, code, remedy) in REMEDIES {
                    div {
                        dt id={ "error-" (status) "-" (code) } { b { (status) } " " code { (code) } }
                        dd { p.soft { (line(&when(*status, code))) } p { (line(remedy)) } }
                    }
                }
            }
        }
    }
}

/// Returns the description of the error in `docs/api.md`.
fn when(status: u16, code: &str) -> String {
    let start = format!("| {status} | `{code}` | ");
    let row = include_str!("../../../../../docs/api.md").lines().find_map(|line| line.strip_prefix(&start));
    let text = row.unwrap_or_else(|| panic!("docs/api.md has no {code}")).trim_end_matches(" |");
    let text = text.replace(": `", ". Details: `");
    let mut letters = text.chars();
    let text: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    format!("{}.", text.trim_end_matches('.'))
}

fn error_handling() -> Vec<(Language, String)> {
    let texts = [
        "try {\n  await signpost.sessions.get(session.id);\n} catch (error) {\n  if (!(error instanceof SignpostError)) throw error;\n  console.error(error.code, error.details, error.requestId);\n}".to_owned(),
        "try:\n    signpost.sessions.get(session.id)\nexcept SignpostError as error:\n    print(error.code, error.details, error.request_id)".to_owned(),
        "_, err := client.Sessions.Get(ctx, session.ID)\nvar failure *signpost.Error\nif errors.As(err, &failure) {\n\tlog.Print(failure.Code, failure.Details, failure.RequestID)\n}".to_owned(),
        "if let Err(error) = signpost.sessions().get(&session.id).await {\n    eprintln!(\"{} {:?}\", error.code, error.request_id);\n}".to_owned(),
        format!("curl -i {BASE}/sessions/sess_x \\\n  -H \"Authorization: Bearer $SIGNPOST_KEY\""),
    ];
    LANGUAGES.into_iter().zip(texts).collect()
}
