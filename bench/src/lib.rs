//! The parts of the measurements: servers in separate processes, load generators, and goals.

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

pub use child::{CpuTime, Program, Server};
pub use goals::report;
pub use load::{ROUND, ROUNDS, Variant, ask, compare, exchange, measure, per_second, print, read_reply};
pub use request::{get, get_with, patch, post};
pub use serve::{serve_or_measure, serve_or_measure_selected};

/// The allocator of the program, for the bare handlers too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
