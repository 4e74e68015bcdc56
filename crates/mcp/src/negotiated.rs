use std::sync::Arc;

use serde_json::value::RawValue;

use crate::argument_reading::ArgumentReading;
use crate::context::Context;
use crate::notifications::LogLevel;
use crate::response::RpcResponse;
use crate::revision::Revision;

/// Maximum size of a client's capabilities. They are stored until its connection ends.
pub(crate) const MAX_CAPABILITIES_BYTES: usize = 4 * 1024;

/// The negotiated state of a connection.
#[derive(Clone, Debug)]
pub(crate) struct NegotiatedState {
    revision: Revision,
    argument_reading: ArgumentReading,
    log_level: Option<LogLevel>,
    capabilities: Option<Arc<RawValue>>,
}

impl Default for NegotiatedState {
    fn default() -> Self {
        Self {
            revision: Revision::ASSUMED,
            argument_reading: ArgumentReading::Strict,
            log_level: None,
            capabilities: None,
        }
    }
}

impl NegotiatedState {
    /// Returns the initial state of a connection over stdio. Its client started this process to speak the protocol.
    pub(crate) fn stdio() -> Self {
        Self { argument_reading: ArgumentReading::Lenient, ..Self::default() }
    }

    /// Stores the negotiated values of a response for later messages.
    pub(crate) fn update(&mut self, response: &mut RpcResponse) {
        if let Some(revision) = response.negotiated {
            self.revision = revision;
            self.argument_reading = ArgumentReading::Lenient;
            let declared = response.capabilities.take();
            self.capabilities = declared.filter(|raw| raw.get().len() <= MAX_CAPABILITIES_BYTES).map(Arc::from);
        }
        self.log_level = response.log_level.or(self.log_level);
    }

    /// Returns true after an `initialize` on a connection over HTTP.
    pub(crate) fn is_initialized(&self) -> bool {
        self.argument_reading.is_lenient()
    }

    pub(crate) fn context(&self) -> Context<'_> {
        let Self { revision, argument_reading, log_level, ref capabilities } = *self;
        let capabilities = capabilities.as_deref();
        Context { argument_reading, capabilities, log_level, ..Context::session(revision) }
    }
}
