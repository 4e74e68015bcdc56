//! The clock, randomness and timer of the client, which tests can replace.

use std::fmt;
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use ring::rand::{SecureRandom, SystemRandom};

/// The clock, randomness and timer of a client. Tests can replace the default, [`SystemRuntime`].
pub trait Runtime: fmt::Debug + Send + Sync {
    /// Returns the current time.
    fn now(&self) -> SystemTime;

    /// Returns unpredictable random bytes.
    fn random(&self) -> [u8; 32];

    /// Completes after `duration`.
    fn pause(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// The default runtime: the clock and randomness of the operating system, and Tokio's timer.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRuntime;

impl Runtime for SystemRuntime {
    #[expect(clippy::disallowed_methods, reason = "the only place where the client reads the clock")]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn random(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        SystemRandom::new().fill(&mut bytes).expect("the system has randomness");
        bytes
    }

    fn pause(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(duration))
    }
}
