//! What the measurements are made of: servers in processes of their own, load, and the goals that figures are held
//! against.

pub mod bare;
pub mod callgrind;
pub mod child;
pub mod console_fixture;
pub mod goals;
pub mod load;
pub mod login_page;
pub mod queue;
pub mod serve;
pub mod server;

mod request;

pub use child::{Program, Server, Spent};
pub use goals::report;
pub use load::{ROUND, ROUNDS, Variant, ask, compare, exchange, measure, per_second, print, read_reply};
pub use request::{get, get_with, patch, post};
pub use serve::{or_measure, or_measure_some};

/// The program's, for the bare handlers too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
