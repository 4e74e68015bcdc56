use std::sync::Arc;

use serde_json::value::RawValue;

use crate::context::Context;
use crate::notifications::LogLevel;
use crate::response::RpcResponse;
use crate::revision::Revision;

/// Maximum size of a client's capabilities. They are stored until its connection ends.
const MAX_CAPABILITIES_BYTES: usize = 4 * 1024;

/// The negotiated state of a connection.
#[derive(Clone, Debug)]
pub(crate) struct NegotiatedState {
    revision: Revision,
    log_level: Option<LogLevel>,
    capabilities: Option<Arc<RawValue>>,
}

impl Default for NegotiatedState {
    fn default() -> Self {
        Self { revision: Revision::ASSUMED, log_level: None, capabilities: None }
    }
}

impl NegotiatedState {
    /// Stores the negotiated values of a response for later messages.
    pub(crate) fn update(&mut self, response: &mut RpcResponse) {
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
