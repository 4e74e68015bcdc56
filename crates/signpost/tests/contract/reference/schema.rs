//! Descriptions of schemas in words.

use super::node::YamlNode;

/// A schema with the schemas that it references or combines, its own keywords first.
#[derive(Clone)]
pub(super) struct SchemaView {
    layers: Vec<&'static YamlNode>,
    /// The schemas in the order of their members.
    parts: Vec<&'static YamlNode>,
}

/// A member of an object.
pub(super) struct SchemaMember {
    pub(super) name: &'static str,
    pub(super) schema: SchemaView,
    pub(super) is_required: bool,
}

impl SchemaView {
    /// Creates the view of a schema; `choice` is the index of the alternative of a `oneOf`.
    pub(super) fn of(schema: &'static YamlNode, choice: usize) -> Self {
        let (mut layers, mut parts) = (Vec::new(), Vec::new());
        collect(schema, choice, &mut layers, &mut parts);
        Self { layers, parts }
    }

    /// Returns the first value of a keyword.
    fn find(&self, word: &str) -> Option<&'static YamlNode> {
        self.layers.iter().find_map(|layer| layer.get(word))
    }

    fn find_text(&self, word: &str) -> Option<&'static str> {
        self.find(word)?.as_text()
    }

    pub(super) fn description(&self) -> &'static str {
        self.find_text("description").unwrap_or_default()
    }

    /// Returns the members, beginning with the members of combined schemas.
    pub(super) fn members(&self) -> Vec<SchemaMember> {
        let mut found: Vec<SchemaMember> = Vec::new();
        let required: Vec<_> =
            self.layers.iter().filter_map(|layer| layer.get("required")).flat_map(YamlNode::rows).collect();
        for (name, schema) in self.parts.iter().filter_map(|part| part.get("properties")).flat_map(YamlNode::members) {
            let schema = Self::of(schema, 0);
            if let Some(member) = found.iter_mut().find(|member| member.name == name) {
                member.schema = schema;
                continue;
            }
            let is_required = required.iter().any(|one| one.as_text() == Some(name));
            found.push(SchemaMember { name, schema, is_required });
        }
        found
    }

    /// Returns the schema of a list's items.
    pub(super) fn items(&self) -> Option<Self> {
        self.find("items").map(|items| Self::of(items, 0))
    }

    /// Returns the type of the value, such as `text or null`.
    pub(super) fn kind(&self) -> String {
        let is_null = |kind: &str| kind == "null";
        let kinds: Vec<_> = match self.find("type") {
            Some(YamlNode::List(kinds)) => kinds.iter().filter_map(YamlNode::as_text).collect(),
            Some(kind) => kind.as_text().into_iter().collect(),
            None => vec!["object"],
        };
        let nullable = self.layers.iter().filter_map(|layer| layer.get("anyOf")).flat_map(YamlNode::rows);
        let can_be_null =
            kinds.iter().copied().any(is_null) || nullable.into_iter().any(|one| one.text("type") == "null");
        let kind = kinds.into_iter().find(|kind| !is_null(kind)).unwrap_or("object");
        let kind = match (kind, self.find_text("format")) {
            (_, Some("date-time")) => "time".to_owned(),
            (_, Some("uri")) => "URL".to_owned(),
            ("array", _) => format!("list of {}s", self.items().map(|items| items.kind()).unwrap_or_default()),
            (kind, _) => kind.to_owned(),
        };
        if can_be_null { format!("{kind} or null") } else { kind }
    }

    /// Returns the constraints as short phrases, with code in backticks.
    pub(super) fn bounds(&self) -> Vec<String> {
        let mut bounds = Vec::new();
        let range = |least: &str, most: &str| (self.find_text(least), self.find_text(most));
        match range("minimum", "maximum") {
            (Some(least), Some(most)) => bounds.push(format!("{least} to {most}")),
            (Some(least), None) => bounds.push(format!("{least} or more")),
            _ => {}
        }
        for (range, what) in
            [(range("minLength", "maxLength"), "characters"), (range("minItems", "maxItems"), "entries")]
        {
            match range {
                (Some(least), Some(most)) => bounds.push(format!("{least} to {most} {what}")),
                (Some("1"), None) => bounds.push("not empty".to_owned()),
                (None, Some(most)) => bounds.push(format!("at most {most} {what}")),
                _ => {}
            }
        }
        bounds.extend(self.find_text("uniqueItems").map(|_| "each once".to_owned()));
        let words = self.find("enum").or_else(|| self.items().and_then(|items| items.find("enum")));
        if let Some(words) = words {
            let words: Vec<_> =
                words.rows().iter().filter_map(YamlNode::as_text).map(|word| format!("`{word}`")).collect();
            let all = if words.len() == 1 { "always" } else { "one of" };
            bounds.push(format!("{all} {}", words.join(", ")));
        }
        if let Some(only) = self.find_text("const") {
            bounds.push(if only.is_empty() { "always empty".to_owned() } else { format!("always `{only}`") });
        }
        // For lists of texts. Patterns of times, URLs and hex digits are omitted: their descriptions contain the
        // format.
        bounds.extend(
            self.items()
                .iter()
                .filter_map(|items| items.find_text("maxLength"))
                .map(|most| format!("{most} characters each")),
        );
        let is_plain = |pattern: &&str| *pattern != "Z$" && !pattern.starts_with("^[0-9a-fA-F]*");
        bounds.extend(self.find_text("pattern").filter(is_plain).map(shown));
        bounds.extend(self.find_text("default").map(|usual| format!("default `{usual}`")));
        bounds
    }
}

fn collect(
    schema: &'static YamlNode,
    choice: usize,
    layers: &mut Vec<&'static YamlNode>,
    parts: &mut Vec<&'static YamlNode>,
) {
    layers.push(schema);
    if schema.get("$ref").is_some() {
        collect(schema.resolved(), choice, layers, parts);
    }
    for part in schema.get("allOf").map(YamlNode::rows).unwrap_or_default() {
        collect(part, choice, layers, parts);
    }
    let either = schema.get("anyOf").map(YamlNode::rows).unwrap_or_default();
    for part in either.iter().filter(|part| part.text("type") != "null") {
        collect(part, choice, layers, parts);
    }
    parts.push(schema);
    if let Some(part) = schema.get("oneOf").and_then(|parts| parts.rows().get(choice)) {
        collect(part, choice, layers, parts);
    }
}

/// Describes the pattern of an ID as `usr_…`, and other patterns literally.
fn shown(pattern: &str) -> String {
    let prefix = pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix("[0-9a-z]{36}$"));
    prefix.map_or_else(|| format!("like `{pattern}`"), |prefix| format!("`{prefix}…`"))
}
