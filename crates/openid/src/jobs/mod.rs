//! Background jobs of the OpenID Connect service.

pub mod rotate;
pub mod sweep;

use tokio::task::JoinHandle;

use crate::service::OpenidService;

/// Starts all jobs. They end when the server drains.
#[must_use]
pub fn spawn_all(service: &OpenidService) -> [JoinHandle<()>; 3] {
    [
        tokio::spawn(rotate::run(service.clone())),
        tokio::spawn(sweep::run(service.clone())),
        tokio::spawn(sweep::run_codes(service.clone())),
    ]
}
