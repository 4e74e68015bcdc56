//! The section of events: the requests that sites receive, and their replies.

use maud::{Markup, html};

use super::call::{examples, members, parameter};
use super::node::{DOCUMENT, YamlNode};
use super::page::in_languages;
use super::schema::SchemaView;
use super::snippets::{LANGUAGES, Language, json};
use super::words::{line, paragraphs};

fn kinds() -> impl Iterator<Item = (&'static str, &'static YamlNode)> {
    let kinds = DOCUMENT.get("webhooks").expect("events").members().iter();
    kinds.map(|(kind, item)| (kind.as_str(), item.get("post").expect("a request")))
}

pub(super) fn contents() -> Markup {
    html! {
        @for (kind, post) in kinds() {
            li { a href={ "#event-" (kind) } { code { (kind) } " " (post.text("summary")) } }
        }
    }
}

pub(super) fn section(tag: &YamlNode) -> Markup {
    let (_, login) = kinds().next().expect("an event");
    let headers = login.get("parameters").expect("headers").rows().iter().map(YamlNode::resolved);
    let content = |post: &'static YamlNode| post.at(&["requestBody", "content", "application/json"]).expect("a body");
    let schema = content(login).get("schema").expect("a schema");
    html! {
        section #events .subject {
            div.stack-sm {
                h2 { "Events" }
                p.soft { (line(tag.text("description"))) }
                (in_languages(&verification()))
            }
            div.told {
                h3 { "Headers" }
                dl.members { @for header in headers { (parameter("events", header)) } }
                h3 { "Body" }
                (members(&SchemaView::of(schema, 0).members(), "events"))
                h3 { "What you reply" }
                (replies(login))
            }
            @for (kind, post) in kinds() {
                section.call id={ "event-" (kind) } {
                    div.told.stack-sm {
                        h3 { code { (kind) } " " (post.text("summary")) }
                        (paragraphs(post.text("description")))
                    }
                    div.shown {
                        @for (_, value) in examples(content(post)) {
                            figure.code { figcaption { "Body of " (kind) } pre { code { (json(value)) } } }
                        }
                    }
                }
            }
        }
    }
}

fn replies(post: &'static YamlNode) -> Markup {
    html! {
        dl.members {
            @for (status, response) in post.get("responses").expect("responses").members() {
                div {
                    dt { b { @if status == "default" { "Anything else" } @else { (status) } } }
                    dd { (paragraphs(response.resolved().text("description"))) }
                }
            }
        }
    }
}

fn verification() -> Vec<(Language, String)> {
    let texts = [
        "const event = await signpost.webhooks.verify(\n  await request.text(),\n  request.headers,\n  process.env.WEBHOOK_SECRET,\n);",
        "event = signpost.webhooks.verify(\n    request.get_data(), request.headers, os.environ[\"WEBHOOK_SECRET\"]\n)",
        "event, err := signpost.VerifyWebhook(body, request.Header, os.Getenv(\"WEBHOOK_SECRET\"))",
        "let secret = WebhookSecret::parse(&std::env::var(\"WEBHOOK_SECRET\")?)?;\nif !secret.verify_x_svc_signature(signature, &body) {\n    return Ok(StatusCode::UNAUTHORIZED);\n}\nlet event: Event = serde_json::from_slice(&body)?;",
        "# The X-Svc-Signature that this body must have\nopenssl dgst -sha256 -hmac \"$WEBHOOK_SECRET\" < body.json",
    ];
    LANGUAGES.into_iter().zip(texts.map(str::to_owned)).collect()
}
