//! A response in progress, with the notifications that precede it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::future::BoxFuture;

use crate::notifications::Notifications;
use crate::response::RpcResponse;

/// A response in progress. The handler runs only while [`PendingResponse::next`] is polled.
pub(crate) struct PendingResponse<'a> {
    work: Option<BoxFuture<'a, RpcResponse>>,
    response: Option<RpcResponse>,
    notifications: Arc<Notifications>,
}

/// A step of a pending response: a notification, or finally the response.
pub(crate) enum ResponseStep {
    Notification(Vec<u8>),
    Response(RpcResponse),
}

impl<'a> PendingResponse<'a> {
    /// Creates a pending response. `respond` may push notifications while it runs.
    pub(crate) fn new<F: Future<Output = RpcResponse> + Send + 'a>(
        respond: impl FnOnce(Arc<Notifications>) -> F,
    ) -> Self {
        let notifications = Arc::<Notifications>::default();
        let work: BoxFuture<'a, RpcResponse> = Box::pin(respond(notifications.clone()));
        Self { work: Some(work), response: None, notifications }
    }

    /// Creates a pending response that is already finished, with its undelivered notifications.
    pub(crate) fn done(notifications: Notifications, response: RpcResponse) -> Self {
        Self { work: None, response: Some(response), notifications: Arc::new(notifications) }
    }

    /// Returns the next step, or `None` after the response. This method is cancel safe.
    pub(crate) async fn next(&mut self) -> Option<ResponseStep> {
        std::future::poll_fn(|context| {
            if let Some(work) = &mut self.work
                && let Poll::Ready(response) = Pin::new(work).poll(context)
            {
                self.work = None;
                self.response = Some(response);
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
