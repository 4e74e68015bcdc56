use std::ops::RangeInclusive;

use serde_json::Value;

use crate::handler::Handler;
use crate::revision::Revision;
use crate::tool::Arguments;

/// A method that this crate does not serve by itself: an extension, or something of older revisions.
#[derive(Debug)]
pub struct Method<S> {
    /// What a request calls it.
    pub name: &'static str,
    /// At which revisions it exists; at others it is unknown.
    pub revisions: RangeInclusive<Revision>,
    /// Serves it, given `params`; the result is an object.
    pub call: Handler<S, Arguments, Value>,
}
