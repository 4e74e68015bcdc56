//! Additional JSON-RPC methods that a server can register.

use std::ops::RangeInclusive;

use serde_json::Value;

use crate::handler::Handler;
use crate::revision::Revision;
use crate::tool::Arguments;

/// A JSON-RPC method that this crate does not implement, such as a method of an extension or of older revisions.
#[derive(Debug)]
pub struct Method<S> {
    /// The name in requests.
    pub name: &'static str,
    /// The revisions that have this method. It is unknown in other revisions.
    pub revisions: RangeInclusive<Revision>,
    /// The handler. It gets `params` and must return an object.
    pub call: Handler<S, Arguments, Value>,
}
