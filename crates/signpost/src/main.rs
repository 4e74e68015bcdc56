//! The program: parse, run, exit code.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    signpost::cli::Cli::parse().run()
}
