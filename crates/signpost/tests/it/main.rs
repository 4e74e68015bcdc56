//! Every integration test, in one binary: the real server on a free port, spoken to over HTTP by actors.

mod authenticate;
mod catalogue;
mod crash;
mod domains;
mod endpoint;
mod errors;
mod events;
mod harness;
mod limits;
mod name_server;
mod program;
mod races;
mod sessions;
mod tidy;
mod tools;
mod transport;
mod verify;
