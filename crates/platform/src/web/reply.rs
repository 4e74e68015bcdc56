//! Replies that are documents.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::problem::Problem;

/// How large most replies are at most.
const USUAL_BYTES: usize = 512;

/// A value as JSON, as `axum::Json` replies with it. That one writes through a buffer that is asked for room with every
/// quotation mark; this one is for what is asked for all the time.
#[derive(Debug)]
pub struct JsonReply<T>(pub T);

impl<T: Serialize> IntoResponse for JsonReply<T> {
    fn into_response(self) -> Response {
        let mut body = Vec::with_capacity(USUAL_BYTES);
        if let Err(error) = serde_json::to_writer(&mut body, &self.0) {
            return Problem::Internal(error.into()).into_response();
        }
        let mut reply = Response::new(Body::from(body));
        reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        reply
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use http_body_util::BodyExt;

    use super::*;

    async fn taken_apart(reply: Response) -> (u16, axum::http::HeaderMap, Vec<u8>) {
        let (parts, body) = reply.into_parts();
        (parts.status.as_u16(), parts.headers, body.collect().await.unwrap().to_bytes().to_vec())
    }

    #[tokio::test]
    async fn a_reply_is_what_axum_makes_of_it() {
        for text in ["", "a \"text\"", &"long ".repeat(1000)] {
            let [ours, theirs] = [JsonReply(text).into_response(), axum::Json(text).into_response()];
            assert_eq!(taken_apart(ours).await, taken_apart(theirs).await);
        }
    }

    #[tokio::test]
    async fn what_cannot_be_written_is_a_fault_of_ours() {
        let (status, _, body) = taken_apart(JsonReply(HashMap::from([([1], 1)])).into_response()).await;
        assert_eq!(status, 500);
        assert!(String::from_utf8(body).unwrap().contains("internal_error"));
    }
}
