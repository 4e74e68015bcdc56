use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::context::Context;
use crate::fault::RpcFault;
use crate::message::{MAX_MESSAGE_BYTES, without_byte_order_mark};
use crate::negotiated::NegotiatedState;
use crate::pending::{PendingResponse, ResponseStep};
use crate::response::RpcResponse;
use crate::server::Server;

/// Serves one client over a pair of byte streams, one message per line, until `reader` ends.
///
/// Lines longer than [`MAX_MESSAGE_BYTES`] are skipped, and get an error as the reply. Only messages are written, and
/// each request is answered before the next request is read.
///
/// # Errors
/// Errors of reading and writing.
pub async fn serve_stdio<S: Sync>(
    server: &Server<S>,
    state: &S,
    mut reader: impl AsyncBufRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut negotiated = NegotiatedState::stdio();
    let mut line = Vec::new();
    while let Some(length) = read_line(&mut reader, &mut line).await? {
        let mut reply = match length {
            LineRead::Whole if without_byte_order_mark(&line).trim_ascii().is_empty() => continue,
            LineRead::Whole => handle_line(server, state, &negotiated.context(), &line, &mut writer).await?,
            LineRead::TooLong => RpcResponse::fault(&too_long(), serde_json::value::RawValue::NULL),
        };
        negotiated.update(&mut reply);
        if let Some(body) = reply.body {
            write_line(&mut writer, body).await?;
        }
    }
    Ok(())
}

/// Writes the notifications, and returns the response.
async fn handle_line<S: Sync>(
    server: &Server<S>,
    state: &S,
    session: &Context<'_>,
    line: &[u8],
    writer: &mut (impl AsyncWrite + Unpin),
) -> io::Result<RpcResponse> {
    let mut pending = PendingResponse::new(|notifications| async move {
        let context = Context { notifications: Some(&notifications), ..*session };
        server.handle(state, &context, line).await
    });
    loop {
        match pending.next().await {
            Some(ResponseStep::Notification(sent)) => write_line(writer, sent).await?,
            Some(ResponseStep::Response(reply)) => return Ok(reply),
            None => return Err(io::Error::other("there is one reply to each message")),
        }
    }
}

async fn write_line(writer: &mut (impl AsyncWrite + Unpin), mut message: Vec<u8>) -> io::Result<()> {
    message.push(b'\n');
    writer.write_all(&message).await?;
    writer.flush().await
}

enum LineRead {
    Whole,
    TooLong,
}

/// Reads the next line without its line break; `None` at the end of the input.
async fn read_line(reader: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> io::Result<Option<LineRead>> {
    const MAX_LINE_BYTES: u64 = MAX_MESSAGE_BYTES as u64 + 1;
    line.clear();
    if reader.take(MAX_LINE_BYTES).read_until(b'\n', line).await? == 0 {
        return Ok(None);
    }
    if line.pop_if(|last| *last == b'\n').is_some() || line.len() <= MAX_MESSAGE_BYTES {
        return Ok(Some(LineRead::Whole));
    }
    while !line.ends_with(b"\n") {
        line.clear();
        if reader.take(MAX_LINE_BYTES).read_until(b'\n', line).await? == 0 {
            break;
        }
    }
    Ok(Some(LineRead::TooLong))
}

fn too_long() -> RpcFault {
    RpcFault::request(format!("the line is longer than {MAX_MESSAGE_BYTES} bytes; send less in one message"))
}
