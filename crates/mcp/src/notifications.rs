use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::Reply;

/// The severity of something logged (RFC 5424), least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are RFC 5424's")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LogLevel {
    pub(crate) const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// The level as the protocol writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }
}

/// What a handler tells while it works, until a transport takes it.
#[derive(Debug, Default)]
pub struct Notifications(Mutex<VecDeque<Vec<u8>>>);

impl Notifications {
    /// How many may wait; what is told beyond that is dropped, because only the newest state matters to anyone.
    const MOST: usize = 1000;

    pub(crate) fn push(&self, method: &str, params: &Value) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < Self::MOST {
            let notification = json!({ "jsonrpc": "2.0", "method": method, "params": params });
            waiting.push_back(notification.to_string().into_bytes());
        }
    }

    /// The next one to send, as JSON without line breaks.
    #[must_use]
    pub fn take(&self) -> Option<Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// A message on its way to being answered. Nothing happens unless it is asked for the next step.
pub(crate) struct Answering<'a> {
    work: Option<BoxFuture<'a, Reply>>,
    reply: Option<Reply>,
    notifications: Arc<Notifications>,
}

/// What comes of answering a message: notifications, then the reply.
pub(crate) enum Step {
    Notification(Vec<u8>),
    Reply(Reply),
}

impl<'a> Answering<'a> {
    /// `answer` may push to the notifications it is given while it runs.
    pub(crate) fn new<F: Future<Output = Reply> + Send + 'a>(answer: impl FnOnce(Arc<Notifications>) -> F) -> Self {
        let notifications = Arc::<Notifications>::default();
        let work: BoxFuture<'a, Reply> = Box::pin(answer(notifications.clone()));
        Self { work: Some(work), reply: None, notifications }
    }

    /// What is left once all is done.
    pub(crate) fn done(notifications: Notifications, reply: Reply) -> Self {
        Self { work: None, reply: Some(reply), notifications: Arc::new(notifications) }
    }

    /// The next step; `None` after the reply. It may be dropped and asked for again.
    pub(crate) async fn next(&mut self) -> Option<Step> {
        std::future::poll_fn(|context| {
            if let Some(work) = &mut self.work
                && let Poll::Ready(reply) = Pin::new(work).poll(context)
            {
                (self.work, self.reply) = (None, Some(reply));
            }
            match self.notifications.take() {
                Some(notification) => Poll::Ready(Some(Step::Notification(notification))),
                None if self.work.is_some() => Poll::Pending,
                None => Poll::Ready(self.reply.take().map(Step::Reply)),
            }
        })
        .await
    }
}
