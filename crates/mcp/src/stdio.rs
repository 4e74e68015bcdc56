use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::fault::Fault;
use crate::{Context, MAX_MESSAGE_BYTES, Reply, Revision, Server};

/// Serves one client over a pair of byte streams, one message a line, until `reader` ends.
///
/// A line holds at most [`MAX_MESSAGE_BYTES`]; a longer one is skipped and answered with an error. Nothing but messages
/// is written.
///
/// # Errors
/// What reading or writing fails with.
pub async fn serve_stdio<S>(
    server: &Server<S>,
    state: &S,
    mut reader: impl AsyncBufRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut revision = Revision::ASSUMED;
    let mut line = Vec::new();
    while let Some(length) = read_line(&mut reader, &mut line).await? {
        let reply = match length {
            Line::Whole if line.trim_ascii().is_empty() => continue,
            Line::Whole => server.answer(state, &Context::session(revision), &line),
            Line::TooLong => Reply::fault(&too_long(), serde_json::value::RawValue::NULL),
        };
        revision = reply.negotiated.unwrap_or(revision);
        if let Some(mut body) = reply.body {
            body.push(b'\n');
            writer.write_all(&body).await?;
            writer.flush().await?;
        }
    }
    Ok(())
}

enum Line {
    Whole,
    TooLong,
}

/// The next line without its end; `None` at the end of the input.
async fn read_line(reader: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> io::Result<Option<Line>> {
    const MOST: u64 = MAX_MESSAGE_BYTES as u64 + 1;
    line.clear();
    if reader.take(MOST).read_until(b'\n', line).await? == 0 {
        return Ok(None);
    }
    if line.pop_if(|last| *last == b'\n').is_some() || line.len() <= MAX_MESSAGE_BYTES {
        return Ok(Some(Line::Whole));
    }
    while !line.ends_with(b"\n") {
        line.clear();
        if reader.take(MOST).read_until(b'\n', line).await? == 0 {
            break;
        }
    }
    Ok(Some(Line::TooLong))
}

fn too_long() -> Fault {
    Fault::request(format!("the line is longer than {MAX_MESSAGE_BYTES} bytes; send less in one message"))
}
