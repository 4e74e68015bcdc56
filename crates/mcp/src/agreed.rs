use std::sync::Arc;

use serde_json::value::RawValue;

use crate::context::Context;
use crate::notifications::LogLevel;
use crate::response::RpcResponse;
use crate::revision::Revision;

/// Most bytes of a client's capabilities that are kept: they stay as long as its connection does.
const MAX_CAPABILITIES_BYTES: usize = 4 * 1024;

/// What client and server agreed on so far, on a connection that remembers.
#[derive(Clone, Debug)]
pub(crate) struct Agreed {
    revision: Revision,
    log_level: Option<LogLevel>,
    capabilities: Option<Arc<RawValue>>,
}

impl Default for Agreed {
    fn default() -> Self {
        Self { revision: Revision::ASSUMED, log_level: None, capabilities: None }
    }
}

impl Agreed {
    /// Keeps what a response agrees on for the messages after it.
    pub(crate) fn keep(&mut self, response: &mut RpcResponse) {
        if let Some(revision) = response.negotiated {
            self.revision = revision;
            let declared = response.capabilities.take();
            self.capabilities = declared.filter(|raw| raw.get().len() <= MAX_CAPABILITIES_BYTES).map(Arc::from);
        }
        self.log_level = response.log_level.or(self.log_level);
    }

    pub(crate) fn context(&self) -> Context<'_> {
        let Self { revision, log_level, ref capabilities } = *self;
        Context { log_level, capabilities: capabilities.as_deref(), ..Context::session(revision) }
    }
}
