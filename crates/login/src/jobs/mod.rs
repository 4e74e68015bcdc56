//! Background jobs of a running server.

pub mod deliver;
pub mod recheck;
pub mod retention;

use tokio::task::JoinHandle;

use super::service::LoginService;

/// Starts all jobs. They run until the server drains.
#[must_use]
pub fn spawn_all(login: &LoginService) -> [JoinHandle<()>; 3] {
    [
        tokio::spawn(deliver::run(login.clone())),
        tokio::spawn(retention::run(login.clone())),
        tokio::spawn(recheck::run(login.clone())),
    ]
}
