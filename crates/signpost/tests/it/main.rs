//! Every integration test, in one binary: the real server on a free port, spoken to over HTTP by actors.

mod catalogue;
mod disk;
mod errors;
mod feeds;
mod harness;
mod mcp;
mod places;
mod program;
mod schemas;
mod sources;
mod submissions;
mod tidy;
mod tools;
mod transport;
