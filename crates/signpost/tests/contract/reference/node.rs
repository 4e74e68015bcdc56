//! `openapi.yaml` as a tree that preserves the order of members.

use std::fmt;
use std::sync::LazyLock;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

pub(super) static DOCUMENT: LazyLock<YamlNode> =
    LazyLock::new(|| serde_saphyr::from_str(include_str!("../../../../../openapi.yaml")).expect("YAML"));

/// A value of the document.
#[derive(Debug)]
pub(super) enum YamlNode {
    Map(Vec<(String, Self)>),
    List(Vec<Self>),
    Text(String),
    /// A number, a truth value or null, as JSON spells it.
    Literal(String),
}

impl YamlNode {
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        self.members().iter().find(|(found, _)| found == name).map(|(_, value)| value)
    }

    /// Returns the value at a path of members.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, name| node.get(name))
    }

    pub(super) fn members(&self) -> &[(String, Self)] {
        if let Self::Map(members) = self { members } else { &[] }
    }

    pub(super) fn rows(&self) -> &[Self] {
        if let Self::List(rows) = self { rows } else { &[] }
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) | Self::Literal(text) = self { Some(text) } else { None }
    }

    /// Returns the text of a member, or an empty text.
    pub(super) fn text(&self, name: &str) -> &str {
        self.get(name).and_then(Self::as_text).unwrap_or_default()
    }

    /// Returns the target of a `$ref`, or the value itself.
    pub(super) fn resolved(&'static self) -> &'static Self {
        let Some(pointer) = self.get("$ref").and_then(Self::as_text) else { return self };
        let path: Vec<_> = pointer.trim_start_matches("#/").split('/').collect();
        DOCUMENT.at(&path).unwrap_or_else(|| panic!("{pointer} is not there"))
    }
}

impl<'de> Deserialize<'de> for YamlNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = YamlNode;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<YamlNode, E> {
        Ok(YamlNode::Literal(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<YamlNode, E> {
        Ok(YamlNode::Literal(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<YamlNode, E> {
        Ok(YamlNode::Literal(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<YamlNode, E> {
        Ok(YamlNode::Literal(value.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<YamlNode, E> {
        Ok(YamlNode::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<YamlNode, E> {
        Ok(YamlNode::Literal("null".to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<YamlNode, A::Error> {
        let mut found = Vec::new();
        while let Some(row) = rows.next_element()? {
            found.push(row);
        }
        Ok(YamlNode::List(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<YamlNode, A::Error> {
        let mut found = Vec::new();
        while let Some(member) = members.next_entry()? {
            found.push(member);
        }
        Ok(YamlNode::Map(found))
    }
}
