use std::ops::RangeInclusive;

use serde_json::Value;

use crate::handler::Handler;
use crate::revision::Revision;
use crate::tool::Arguments;

/// A method that this crate does not implement: an extension, or a method of older revisions.
#[derive(Debug)]
pub struct Method<S> {
    /// Its name in requests.
    pub name: &'static str,
    /// The revisions with this method; it is unknown in others.
    pub revisions: RangeInclusive<Revision>,
    /// The handler of `params`; the result is an object.
    pub call: Handler<S, Arguments, Value>,
}
