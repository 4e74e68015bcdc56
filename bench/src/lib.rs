//! Building blocks of the benchmarks: server processes, load generators and performance goals.

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
pub use load::{ROUND, ROUNDS, Variant, compare, exchange, measure, per_second, print, read_reply, send_request};
pub use request::{get, get_with, patch, post};
pub use serve::{serve_or_measure, serve_or_measure_selected};

/// The allocator of the program, which the bare handlers use as well.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
