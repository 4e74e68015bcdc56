//! The entry point of the program: parses the arguments, runs the command, and returns its exit
//! code.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// The global allocator. With mimalloc, searches need a tenth less processor time than with the
/// system allocator, and memory that is freed after an import is returned to the system
/// (DESIGN.md).
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    signpost::cli::Cli::read().run()
}
