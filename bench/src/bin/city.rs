//! Measures a city page of the locator compared with a bare handler that returns an equal body, and
//! the size of the page.

use std::io::Write;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use signpost_bench::{Program, Server, Variant, compare, get, report, send_request, serve_or_measure};

const CONNECTIONS: usize = 32;
/// Number of rows of a full page. Few cities have that many ATMs.
const ROWS: usize = 50;

fn main() -> Result<()> {
    serve_or_measure(measure)
}

async fn measure() -> Result<()> {
    let program = Program::with_atms(&[])?;
    let path = city(&text(&program, "/atms/us/tx").await?).context("a city with enough machines")?;
    let page = text(&program, &path).await?;
    let request = get(&path);
    let bare = Server::bare("text/html; charset=utf-8", page.as_bytes())?;
    let variants = [
        Variant { name: "bare handler, the same bytes", server: &bare, request: request.clone() },
        Variant { name: "GET /atms/us/tx/…", server: &program.server, request },
    ];
    println!("showing {path}, {} kB, {CONNECTIONS} connections", page.len() / 1000);
    compare("city", &variants, CONNECTIONS).await?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(page.as_bytes())?;
    report("city_bytes", f64::from(u32::try_from(encoder.finish()?.len())?) / 1e3, None)
}

async fn text(program: &Program, path: &str) -> Result<String> {
    Ok(String::from_utf8(send_request(program.target.address, &get(path)).await?)?)
}

/// Returns the path of the first city on a state's page with enough ATMs for a full page, and few
/// more.
fn city(state: &str) -> Option<String> {
    let rows = state.split("<li><a href=\"").skip(1);
    let mut cities = rows.filter_map(|row| {
        let (path, rest) = row.split_once('"')?;
        let count = rest.split("<span class=\"soft\">").nth(1)?.split('<').next()?.parse::<usize>().ok()?;
        (ROWS..2 * ROWS).contains(&count).then(|| path.to_owned())
    });
    cities.next()
}
