//! Measures `POST /sessions` with a session that is on disk before the response, compared with a
//! server that stores its database in memory.

use anyhow::Result;
use signpost_bench::{Program, Variant, compare, serve_or_measure};

const CONNECTIONS: usize = 128;

fn main() -> Result<()> {
    serve_or_measure(measure)
}

async fn measure() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let memory = Program::start(&[])?;
    let durable = Program::start(&[&format!("data_dir={}", folder.path().display())])?;
    for program in [&memory, &durable] {
        program.target.register("localhost", "http://127.0.0.1:1/").await?;
    }
    let variants = [("database in memory", &memory), ("durable before the response", &durable)]
        .map(|(name, program)| Variant { name, server: &program.server, request: program.target.creation() });
    println!("POST /sessions, durable (synchronous=FULL) and in memory, {CONNECTIONS} connections");
    compare("creation", &variants, CONNECTIONS).await?;
    Ok(())
}
