//! A relay that forwards messages through Redis to the server process with the client's event stream.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use data_encoding::HEXLOWER;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt};
use redis::AsyncCommands;
use redis::aio::PubSubSink;
use signpost_mcp::{PostResult, PostToStream, Relay};
use signpost_platform::redis::Redis;
use signpost_store::random;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Timeout for the subscription of a new stream, and for the answer to a forwarded message.
const STREAM_TIMEOUT: Duration = Duration::from_secs(1);
/// Delay before the next attempt to connect to Redis.
const RETRY_DELAY: Duration = Duration::from_millis(500);
/// Maximum number of queued subscriptions and unsubscriptions.
const MAX_WAITING_COMMANDS: usize = 4096;

/// The relay between the event streams of several servers.
pub(crate) struct Streams {
    redis: Redis,
    /// The Redis channel for answers to this server.
    inbox: String,
    post: OnceLock<PostToStream>,
    /// The sessions with an open stream on this server.
    open: Mutex<HashSet<String>>,
    /// The forwarded messages that wait for an answer, by number.
    pending: Mutex<HashMap<u64, oneshot::Sender<PostResult>>>,
    number: AtomicU64,
    is_listening: AtomicBool,
    commands: mpsc::Sender<RelayCommand>,
    receiver: Mutex<Option<mpsc::Receiver<RelayCommand>>>,
}

/// A command for the task that owns the subscription connection.
enum RelayCommand {
    Subscribe(String, oneshot::Sender<()>),
    Unsubscribe(String),
}

impl Streams {
    pub(crate) fn new(redis: Redis) -> Self {
        let (commands, receiver) = mpsc::channel(MAX_WAITING_COMMANDS);
        Self {
            redis,
            inbox: format!("signpost:server:{}", HEXLOWER.encode(&random::<16>())),
            post: OnceLock::new(),
            open: Mutex::default(),
            pending: Mutex::default(),
            number: AtomicU64::new(0),
            is_listening: AtomicBool::new(false),
            commands,
            receiver: Mutex::new(Some(receiver)),
        }
    }

    /// Receives messages from Redis until the server drains.
    pub(crate) async fn run(self: Arc<Self>, draining: CancellationToken) {
        let Some(mut commands) = self.receiver.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let listen = async {
            loop {
                // The Redis connection logs its own failures.
                let ended = self.listen(&mut commands).await;
                self.is_listening.store(false, Ordering::SeqCst);
                if let Err(error) = ended {
                    tracing::debug!(error = format!("{error:#}"), "cannot reach the streams of other servers");
                }
                sleep(RETRY_DELAY).await;
            }
        };
        draining.run_until_cancelled(listen).await;
    }

    async fn listen(&self, commands: &mut mpsc::Receiver<RelayCommand>) -> Result<()> {
        let (mut sink, mut messages) = self.redis.listen().await?.split();
        sink.subscribe(&self.inbox).await?;
        // From now on, new streams subscribe themselves.
        self.is_listening.store(true, Ordering::SeqCst);
        let open: Vec<String> = self.lock_open().iter().map(|session| channel(session)).collect();
        for channel in open {
            sink.subscribe(channel).await?;
        }
        loop {
            tokio::select! {
                command = commands.recv() => execute(&mut sink, command.context("the server is stopping")?).await?,
                message = messages.next() => {
                    let message = message.context("the connection ended")?;
                    self.handle_message(message.get_channel_name(), message.get_payload_bytes()).await;
                }
            }
        }
    }

    /// Handles a message for a stream of this server, or the answer to a forwarded message.
    async fn handle_message(&self, channel: &str, payload: &[u8]) {
        if channel == self.inbox {
            let Some((number, result)) = parse_answer(payload) else { return };
            if let Some(pending) = self.lock_pending().remove(&number) {
                let _timed_out = pending.send(result);
            }
            return;
        }
        let Some(session) = channel.strip_prefix(STREAM) else { return };
        let Some(posted) = RelayedMessage::parse(payload) else { return };
        let result = match self.post.get() {
            Some(post) => post(session, posted.body, posted.request_id),
            None => PostResult::Unknown,
        };
        let answer = format!("{} {}", posted.number, word(result));
        let inbox = posted.inbox;
        // If the answer is lost, the sender times out.
        let _sent = self.redis.run(async |mut redis| redis.publish::<_, _, ()>(inbox, answer).await).await;
    }

    async fn send(&self, session: &str, message: Bytes, request_id: Option<&str>) -> PostResult {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let (pending, answer) = oneshot::channel();
        self.lock_pending().insert(number, pending);
        let posted = RelayedMessage { inbox: &self.inbox, number, request_id, body: message }.write();
        let receivers =
            self.redis.run(async |mut redis| redis.publish::<_, _, i64>(channel(session), posted).await).await;
        let result = match receivers {
            Ok(1..) => match timeout(STREAM_TIMEOUT, answer).await {
                Ok(Ok(result)) => result,
                _ => PostResult::Unknown,
            },
            _ => PostResult::Unknown,
        };
        self.lock_pending().remove(&number);
        result
    }

    fn lock_open(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_pending(&self) -> std::sync::MutexGuard<'_, HashMap<u64, oneshot::Sender<PostResult>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Relay for Streams {
    fn start(&self, post: PostToStream) {
        drop(self.post.set(post));
    }

    fn opened<'a>(&'a self, session: &'a str) -> BoxFuture<'a, ()> {
        self.lock_open().insert(session.to_owned());
        async move {
            let (done, subscribed) = oneshot::channel();
            // If Redis is down, the stream is subscribed after the reconnect. Until then it receives only messages from
            // this server.
            let is_listening = self.is_listening.load(Ordering::SeqCst);
            if is_listening && self.commands.try_send(RelayCommand::Subscribe(channel(session), done)).is_ok() {
                drop(timeout(STREAM_TIMEOUT, subscribed).await);
            }
        }
        .boxed()
    }

    fn closed(&self, session: &str) {
        self.lock_open().remove(session);
        if self.is_listening.load(Ordering::SeqCst) {
            drop(self.commands.try_send(RelayCommand::Unsubscribe(channel(session))));
        }
    }

    fn forward<'a>(
        &'a self,
        session: &'a str,
        message: Bytes,
        request_id: Option<&'a str>,
    ) -> BoxFuture<'a, PostResult> {
        self.send(session, message, request_id).boxed()
    }
}

async fn execute(sink: &mut PubSubSink, command: RelayCommand) -> Result<()> {
    match command {
        RelayCommand::Subscribe(channel, done) => {
            sink.subscribe(channel).await?;
            let _timed_out = done.send(());
        }
        RelayCommand::Unsubscribe(channel) => sink.unsubscribe(channel).await?,
    }
    Ok(())
}

const STREAM: &str = "signpost:stream:";

fn channel(session: &str) -> String {
    format!("{STREAM}{session}")
}

/// A forwarded message: one line with the sender, the number and the request ID, followed by the body.
struct RelayedMessage<'a> {
    inbox: &'a str,
    number: u64,
    request_id: Option<&'a str>,
    body: Bytes,
}

impl<'a> RelayedMessage<'a> {
    fn parse(payload: &'a [u8]) -> Option<Self> {
        let end = payload.iter().position(|byte| *byte == b'\n')?;
        let mut head = str::from_utf8(&payload[..end]).ok()?.splitn(3, ' ');
        let inbox = head.next()?;
        let number = head.next()?.parse().ok()?;
        let request_id = head.next()?;
        let request_id = if request_id.is_empty() { None } else { Some(request_id) };
        Some(Self { inbox, number, request_id, body: Bytes::copy_from_slice(&payload[end + 1..]) })
    }

    fn write(&self) -> Vec<u8> {
        let head = format!("{} {} {}\n", self.inbox, self.number, self.request_id.unwrap_or_default());
        [head.as_bytes(), &self.body].concat()
    }
}

fn word(result: PostResult) -> &'static str {
    match result {
        PostResult::Accepted => "accepted",
        PostResult::Full => "full",
        PostResult::Unknown => "unknown",
    }
}

/// Parses an answer: the number of the forwarded message and its result.
fn parse_answer(payload: &[u8]) -> Option<(u64, PostResult)> {
    let (number, text) = str::from_utf8(payload).ok()?.split_once(' ')?;
    let results = [PostResult::Accepted, PostResult::Full, PostResult::Unknown];
    let result = results.into_iter().find(|result| word(*result) == text)?;
    Some((number.parse().ok()?, result))
}
