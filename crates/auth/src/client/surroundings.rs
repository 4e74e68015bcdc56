use std::fmt;
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use ring::rand::{SecureRandom, SystemRandom};

/// What a client has of the world beside the network. A test brings its own; [`SystemSurroundings`] is the machine's.
pub trait Surroundings: fmt::Debug + Send + Sync {
    /// The time.
    fn now(&self) -> SystemTime;

    /// Bytes that nobody can guess.
    fn random(&self) -> [u8; 32];

    /// Comes back after `duration`.
    fn pause(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// The machine's clock and randomness, and Tokio's timer.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemSurroundings;

impl Surroundings for SystemSurroundings {
    #[expect(clippy::disallowed_methods, reason = "this is the edge: the client takes the time from here")]
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
