//! JSON with the order of its keys, which `serde_json::Value` forgets.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Null,
    Text(String),
    Number(u64),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    pub(crate) fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// The value of a key that must be there.
    pub(crate) fn get(&self, key: &str) -> &Self {
        let Self::Object(entries) = self else { panic!("{self:?} has no keys") };
        &entries.iter().find(|(name, _)| name == key).unwrap_or_else(|| panic!("no {key} in {self:?}")).1
    }

    pub(crate) fn text(&self) -> &str {
        let Self::Text(text) = self else { panic!("{self:?} is no text") };
        text
    }

    pub(crate) fn number(&self) -> u64 {
        let Self::Number(number) = self else { panic!("{self:?} is no number") };
        *number
    }

    pub(crate) fn list(&self) -> &[Self] {
        let Self::List(list) = self else { panic!("{self:?} is no list") };
        list
    }

    pub(crate) fn keys(&self) -> Vec<&str> {
        let Self::Object(entries) = self else { panic!("{self:?} has no keys") };
        entries.iter().map(|(key, _)| key.as_str()).collect()
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, text, a whole number, a list or an object")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(Node::Number(number))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(node) = from.next_element()? {
            list.push(node);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = from.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Object(entries))
    }
}
