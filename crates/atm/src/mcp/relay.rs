//! Messages for event streams that are open at another server, brought there by Redis.

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

/// How long a stream that was opened waits until it can be reached from elsewhere, and a message for its answer.
const STREAM_TIMEOUT: Duration = Duration::from_secs(1);
/// How long until Redis is tried again.
const RETRY_DELAY: Duration = Duration::from_millis(500);
/// How many streams' beginnings and ends may wait until Redis knows of them.
const MAX_WAITING_COMMANDS: usize = 4096;

/// The way to other servers' streams.
pub(crate) struct Streams {
    redis: Redis,
    /// Where this server is answered.
    inbox: String,
    post: OnceLock<PostToStream>,
    /// The streams that are open here.
    open: Mutex<HashSet<String>>,
    /// Messages on their way, by number.
    asked: Mutex<HashMap<u64, oneshot::Sender<PostResult>>>,
    number: AtomicU64,
    is_listening: AtomicBool,
    commands: mpsc::Sender<RelayCommand>,
    receiver: Mutex<Option<mpsc::Receiver<RelayCommand>>>,
}

/// What the listening connection is to do.
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
            asked: Mutex::default(),
            number: AtomicU64::new(0),
            is_listening: AtomicBool::new(false),
            commands,
            receiver: Mutex::new(Some(receiver)),
        }
    }

    /// Listens until the server drains.
    pub(crate) async fn run(self: Arc<Self>, draining: CancellationToken) {
        let Some(mut commands) = self.receiver.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let listen = async {
            loop {
                // That Redis is away was said where it was asked.
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
        // Streams that are opened from now on say so by themselves.
        self.is_listening.store(true, Ordering::SeqCst);
        let open: Vec<String> = self.lock_open().iter().map(|session| channel(session)).collect();
        for channel in open {
            sink.subscribe(channel).await?;
        }
        loop {
            tokio::select! {
                command = commands.recv() => follow(&mut sink, command.context("the server is stopping")?).await?,
                message = messages.next() => {
                    let message = message.context("the connection ended")?;
                    self.handle_message(message.get_channel_name(), message.get_payload_bytes()).await;
                }
            }
        }
    }

    /// A message for a stream that is open here, or the answer to one that went elsewhere.
    async fn handle_message(&self, channel: &str, payload: &[u8]) {
        if channel == self.inbox {
            let answer = str::from_utf8(payload).ok().and_then(|text| text.split_once(' '));
            let Some((Ok(number), Some(result))) = answer.map(|(number, word)| (number.parse(), parse_result(word)))
            else {
                return;
            };
            if let Some(asked) = self.lock_asked().remove(&number) {
                let _gave_up = asked.send(result);
            }
            return;
        }
        let (Some(session), Some(posted)) = (channel.strip_prefix(STREAM), RelayedMessage::parse(payload)) else {
            return;
        };
        let result = self.post.get().map_or(PostResult::Unknown, |post| post(session, posted.body, posted.request_id));
        let answer = format!("{} {}", posted.number, word(result));
        let inbox = posted.inbox;
        // Who is not answered gives up by itself.
        let _sent = self.redis.ask(async |mut redis| redis.publish::<_, _, ()>(inbox, answer).await).await;
    }

    async fn send(&self, session: &str, message: Bytes, request_id: Option<&str>) -> PostResult {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let (asked, answer) = oneshot::channel();
        self.lock_asked().insert(number, asked);
        let posted = RelayedMessage { inbox: &self.inbox, number, request_id, body: message }.write();
        let heard = self.redis.ask(async |mut redis| redis.publish::<_, _, i64>(channel(session), posted).await).await;
        let result = match heard {
            Ok(1..) => timeout(STREAM_TIMEOUT, answer).await.ok().and_then(Result::ok),
            _ => None,
        };
        self.lock_asked().remove(&number);
        result.unwrap_or(PostResult::Unknown)
    }

    fn lock_open(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_asked(&self) -> std::sync::MutexGuard<'_, HashMap<u64, oneshot::Sender<PostResult>>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Relay for Streams {
    fn start(&self, post: PostToStream) {
        drop(self.post.set(post));
    }

    fn opened<'a>(&'a self, session: &'a str) -> BoxFuture<'a, ()> {
        self.lock_open().insert(session.to_owned());
        async move {
            let (done, heard) = oneshot::channel();
            // Where Redis is away the stream is heard once it is back, and until then served by this server alone.
            let is_listening = self.is_listening.load(Ordering::SeqCst);
            if is_listening && self.commands.try_send(RelayCommand::Subscribe(channel(session), done)).is_ok() {
                drop(timeout(STREAM_TIMEOUT, heard).await);
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

async fn follow(sink: &mut PubSubSink, command: RelayCommand) -> Result<()> {
    match command {
        RelayCommand::Subscribe(channel, done) => {
            sink.subscribe(channel).await?;
            let _gave_up = done.send(());
        }
        RelayCommand::Unsubscribe(channel) => sink.unsubscribe(channel).await?,
    }
    Ok(())
}

const STREAM: &str = "signpost:stream:";

fn channel(session: &str) -> String {
    format!("{STREAM}{session}")
}

/// A message on its way: a line that says where from, and the body.
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
        let (inbox, number, request_id) = (head.next()?, head.next()?.parse().ok()?, head.next()?);
        let request_id = Some(request_id).filter(|id| !id.is_empty());
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

fn parse_result(text: &str) -> Option<PostResult> {
    [PostResult::Accepted, PostResult::Full, PostResult::Unknown].into_iter().find(|result| word(*result) == text)
}
