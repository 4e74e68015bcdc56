//! Every integration test, in one binary: the real server on a free port, spoken to over HTTP by actors.

mod harness;
mod sessions;
mod tidy;
