//! The section of a call: parameters, examples in each language, replies and errors.

use std::fmt::Write;

use maud::{Markup, html};

use super::node::{DOCUMENT, YamlNode};
use super::page::{BASE, SANDBOX, in_languages};
use super::schema::{SchemaMember, SchemaView};
use super::snippets::{LANGUAGES, Language, curl, json, snippet};
use super::words::{line, paragraphs};

pub(super) struct Call {
    pub(super) id: &'static str,
    pub(super) tag: &'static str,
    pub(super) summary: &'static str,
    path: &'static str,
    verb: &'static str,
    item: &'static YamlNode,
    operation: &'static YamlNode,
}

/// Returns all calls, in the order of the document.
pub(super) fn all() -> Vec<Call> {
    let paths = DOCUMENT.get("paths").expect("paths").members().iter();
    paths
        .flat_map(|(path, item)| {
            item.members().iter().filter_map(|(verb, operation)| Call::of(path, item, verb, operation))
        })
        .collect()
}

impl Call {
    fn of(
        path: &'static str,
        item: &'static YamlNode,
        verb: &'static str,
        operation: &'static YamlNode,
    ) -> Option<Self> {
        let tag = operation.get("tags")?.rows().first()?.as_text()?;
        let (id, summary) = (operation.text("operationId"), operation.text("summary"));
        Some(Self { id, tag, summary, path, verb, item, operation })
    }

    pub(super) fn address(&self) -> Markup {
        html! { code.address-line { b { (self.verb.to_uppercase()) } " " (self.path) } }
    }

    pub(super) fn render(&self) -> Markup {
        html! {
            section.call id=(self.id) {
                div.told.stack-sm {
                    h3 { (line(self.summary)) " " a.anchor href={ "#" (self.id) } aria-label={ "Link to: " (self.summary) } { "#" } }
                    p { (self.address()) }
                    (paragraphs(self.operation.text("description")))
                    p.soft.sm { (self.keys()) }
                }
                div.shown { (self.request()) (self.replies()) }
                div.told { (self.parameters()) (self.body()) (self.reply_members()) (self.errors()) }
            }
        }
    }

    /// Describes the required authentication.
    fn keys(&self) -> &'static str {
        let security = self.operation.get("security").map(YamlNode::rows);
        match security {
            Some([]) => "Needs no key.",
            Some([_, _, ..]) => "Needs an API key, or the session's client_secret.",
            _ if self.tag == "Machines" => "Needs an API key of the scope atms.",
            _ if self.base() == SANDBOX => "Needs an API key of the sandbox.",
            _ => "Needs an API key.",
        }
    }

    fn base(&self) -> &'static str {
        if self.item.get("servers").is_some() { SANDBOX } else { BASE }
    }

    fn body_type(&self) -> Option<&'static YamlNode> {
        self.operation.at(&["requestBody", "content", "application/json"])
    }

    fn example(&self) -> Option<&'static YamlNode> {
        examples(self.body_type()?).next().map(|(_, value)| value)
    }

    fn all_parameters(&self) -> Vec<&'static YamlNode> {
        let listed = [self.item, self.operation].into_iter().filter_map(|one| one.get("parameters"));
        listed.flat_map(YamlNode::rows).map(YamlNode::resolved).collect()
    }

    fn request(&self) -> Markup {
        let mut path = self.path.to_owned();
        for parameter in self.all_parameters() {
            path = path.replace(&format!("{{{}}}", parameter.text("name")), parameter.text("example"));
            if parameter.text("in") == "query" && parameter.get("required").is_some() {
                write!(path, "?{}={}", parameter.text("name"), parameter.text("example")).expect("a text");
            }
        }
        let is_keyed = self.operation.get("security").is_none_or(|security| !security.rows().is_empty());
        let body = self.example();
        let text = |language| match language {
            Language::Curl => Some(curl(self.base(), self.verb, &path, is_keyed, body, self.id)),
            language => snippet(language, self.id, body),
        };
        let texts: Vec<_> = LANGUAGES.into_iter().filter_map(|language| Some((language, text(language)?))).collect();
        let others: Vec<_> = self.body_type().into_iter().flat_map(examples).skip(1).collect();
        html! {
            @if texts.len() > 1 { (in_languages(&texts)) } @else {
                // No SDK has this call, so the curl example is independent of the switch.
                @for (language, text) in texts { figure.code { figcaption { (language.name()) } pre { code { (text) } } } }
            }
            @for (summary, value) in others {
                figure.code { figcaption { "Another body: " (summary) } pre { code { (json(value)) } } }
            }
        }
    }

    fn successes(&self) -> impl Iterator<Item = (&'static str, &'static YamlNode)> {
        let responses = self.operation.get("responses").expect("responses").members().iter();
        responses.filter(|(status, _)| status.starts_with('2')).map(|(status, response)| (status.as_str(), response))
    }

    fn replies(&self) -> Markup {
        html! {
            @for (status, response) in self.successes() {
                @let media = response.get("content").map(YamlNode::members).unwrap_or_default();
                @if media.is_empty() { p.reply { b { (status) } " " (line(response.text("description"))) } }
                @for (media_type, content) in media {
                    @let shown: Vec<_> = examples(content).collect();
                    @if shown.is_empty() { p.reply { b { (status) } " " code { (media_type) } } }
                    @for (summary, value) in shown {
                        figure.code {
                            figcaption { b { (status) } " " @if summary.is_empty() { (media_type) } @else { (summary) } }
                            pre { code { @if media_type == "application/json" { (json(value)) } @else { (value.as_text().unwrap_or_default().trim()) } } }
                        }
                    }
                }
            }
        }
    }

    fn parameters(&self) -> Markup {
        let all = self.all_parameters();
        html! {
            @if !all.is_empty() {
                h4 { "Parameters" }
                dl.members { @for one in all { (parameter(self.id, one)) } }
            }
        }
    }

    fn body(&self) -> Markup {
        let Some(body) = self.body_type() else { return Markup::default() };
        let view = SchemaView::of(body.get("schema").expect("a schema"), 0);
        let is_required = self.operation.at(&["requestBody", "required"]).is_some();
        html! {
            h4 { "Body" @if !is_required { " (optional)" } }
            (members(&view.members(), self.id))
        }
    }

    fn reply_members(&self) -> Markup {
        html! {
            @for (status, response) in self.successes() {
                @if let Some(schema) = response.at(&["content", "application/json", "schema"]) {
                    details {
                        summary { "Members of the reply " (status) }
                        p { (line(response.text("description"))) }
                        (members(&SchemaView::of(schema, 0).members(), &format!("{}.{status}", self.id)))
                    }
                }
            }
        }
    }

    fn errors(&self) -> Markup {
        let responses = self.operation.get("responses").expect("responses").members().iter();
        let refusals: Vec<_> = responses.filter(|(status, _)| !status.starts_with('2')).collect();
        let statuses: Vec<_> = refusals.iter().map(|(status, _)| status.as_str()).collect();
        html! {
            @if !refusals.is_empty() {
                details {
                    summary { "Errors " (statuses.join(", ")) }
                    dl.members {
                        @for (status, response) in &refusals {
                            @let response = response.resolved();
                            @let own = self.operation.at(&["x-codes", status]);
                            @let codes = own.or_else(|| response.get("x-codes")).map(YamlNode::rows).unwrap_or_default();
                            div {
                                dt { b { (status) } @for code in codes.iter().filter_map(YamlNode::as_text) { " " (error_link(status, code)) } }
                                dd { p { (line(response.text("description"))) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn error_link(status: &str, code: &str) -> Markup {
    let status = match (status, code) {
        ("5XX", "internal_error") => "500",
        ("5XX", _) => "503",
        (status, _) => status,
    };
    html! { a href={ "#error-" (status) "-" (code) } { code { (code) } } }
}

/// Returns the summary and the value of each example of a content.
pub(super) fn examples(content: &'static YamlNode) -> impl Iterator<Item = (&'static str, &'static YamlNode)> {
    let examples = content.get("examples").map(YamlNode::members).unwrap_or_default().iter();
    examples.map(|(_, one)| one.resolved()).map(|one| (one.text("summary"), one.get("value").expect("a value")))
}

/// Renders a path, query or header parameter.
pub(super) fn parameter(call: &str, one: &'static YamlNode) -> Markup {
    let view = SchemaView::of(one.get("schema").expect("a schema"), 0);
    let place = match one.text("in") {
        "path" => "in the path",
        "query" => "in the query",
        _ => "header",
    };
    let is_required = one.get("required").is_some();
    let name = one.text("name");
    row(&format!("{call}.{name}"), name, &view, is_required, Some(place), one.text("description"), &Markup::default())
}

/// Renders members with their nested members.
pub(super) fn members(members: &[SchemaMember], place: &str) -> Markup {
    html! {
        dl.members {
            @for SchemaMember { name, schema, is_required } in members {
                @let place = format!("{place}.{name}");
                (row(&place, name, schema, *is_required, None, schema.description(), &inside(name, schema, &place)))
            }
        }
    }
}

fn inside(name: &str, schema: &SchemaView, place: &str) -> Markup {
    let found = schema.items().unwrap_or_else(|| schema.clone()).members();
    if found.is_empty() {
        return Markup::default();
    }
    if name == "body" {
        return html! { p { "As it was sent: see " a href="#events" { "Events" } "." } };
    }
    members(&found, place)
}

fn row(
    id: &str,
    name: &str,
    schema: &SchemaView,
    is_required: bool,
    place: Option<&str>,
    text: &str,
    inside: &Markup,
) -> Markup {
    html! {
        div {
            dt id=(id) {
                code { (name) } " "
                span.kind { (schema.kind()) @if let Some(place) = place { ", " (place) } @for bound in schema.bounds() { ", " (line(&bound)) } }
                @if is_required { " " b.need { "required" } }
            }
            dd { (paragraphs(text)) (inside) }
        }
    }
}
