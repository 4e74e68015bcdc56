//! The program: parse, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    signpost::cli::Cli::read().run()
}
