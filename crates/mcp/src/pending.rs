use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::future::BoxFuture;

use crate::notifications::Notifications;
use crate::response::RpcResponse;

/// A response that is being worked out. Nothing happens unless it is asked for the next step.
pub(crate) struct PendingResponse<'a> {
    work: Option<BoxFuture<'a, RpcResponse>>,
    response: Option<RpcResponse>,
    notifications: Arc<Notifications>,
}

/// What comes of a message: notifications, then the response.
pub(crate) enum ResponseStep {
    Notification(Vec<u8>),
    Response(RpcResponse),
}

impl<'a> PendingResponse<'a> {
    /// `respond` may push to the notifications it is given while it runs.
    pub(crate) fn new<F: Future<Output = RpcResponse> + Send + 'a>(
        respond: impl FnOnce(Arc<Notifications>) -> F,
    ) -> Self {
        let notifications = Arc::<Notifications>::default();
        let work: BoxFuture<'a, RpcResponse> = Box::pin(respond(notifications.clone()));
        Self { work: Some(work), response: None, notifications }
    }

    /// What is left once all is done.
    pub(crate) fn done(notifications: Notifications, response: RpcResponse) -> Self {
        Self { work: None, response: Some(response), notifications: Arc::new(notifications) }
    }

    /// The next step; `None` after the response. It may be dropped and asked for again.
    pub(crate) async fn next(&mut self) -> Option<ResponseStep> {
        std::future::poll_fn(|context| {
            if let Some(work) = &mut self.work
                && let Poll::Ready(response) = Pin::new(work).poll(context)
            {
                (self.work, self.response) = (None, Some(response));
            }
            match self.notifications.take() {
                Some(notification) => Poll::Ready(Some(ResponseStep::Notification(notification))),
                None if self.work.is_some() => Poll::Pending,
                None => Poll::Ready(self.response.take().map(ResponseStep::Response)),
            }
        })
        .await
    }
}
