//! The memory that all fetches of a process share.

use std::sync::Arc;

use anyhow::Result;
use signpost_platform::outbound::{EgressPolicy, Outbound, OutboundResponse, Request};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum size of a document that is downloaded without the permit for large documents, in bytes.
const MAX_SMALL_BYTES: usize = 32 << 20;

/// A limit of the memory of concurrent fetches: a single large document, and a single document that is imported.
/// Clones share their permits.
#[derive(Clone, Debug)]
pub struct FetchMemory {
    max_small_bytes: usize,
    large: Arc<Semaphore>,
    imports: Arc<Semaphore>,
}

impl Default for FetchMemory {
    fn default() -> Self {
        let [large, imports] = [(); 2].map(|()| Arc::new(Semaphore::new(1)));
        Self { max_small_bytes: MAX_SMALL_BYTES, large, imports }
    }
}

/// A document, and the memory permit if it is large.
#[derive(Debug)]
pub(super) struct Download {
    pub(super) response: OutboundResponse,
    pub(super) permit: Option<OwnedSemaphorePermit>,
}

impl FetchMemory {
    /// Downloads a document. If it is larger than [`MAX_SMALL_BYTES`], the download is cancelled and restarted when no
    /// other fetch has a large document: a paused download would exceed its timeout because of other feeds.
    ///
    /// # Errors
    /// The errors of [`Outbound::send`].
    pub(super) async fn download(
        &self,
        outbound: &Outbound,
        egress: EgressPolicy,
        request: Request<'_>,
    ) -> Result<Download> {
        let max_body = request.max_body.min(self.max_small_bytes + 1);
        let response = outbound.send(egress, Request { max_body, ..request.clone() }).await?;
        if response.body.len() <= self.max_small_bytes {
            return Ok(Download { response, permit: None });
        }
        drop(response);
        let permit = Arc::clone(&self.large).acquire_owned().await?;
        let response = outbound.send(egress, request).await?;
        Ok(Download { response, permit: Some(permit) })
    }

    /// Waits until no other fetch parses or imports its document.
    ///
    /// # Errors
    /// Never: the semaphore is not closed.
    pub(super) async fn begin_import(&self) -> Result<OwnedSemaphorePermit> {
        Ok(Arc::clone(&self.imports).acquire_owned().await?)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use reqwest::Method;
    use reqwest::header::HeaderMap;
    use signpost_platform::outbound::NameResolver;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::sync::watch;
    use tokio::task::JoinSet;
    use url::Url;

    use super::*;

    const LARGE_BYTES: usize = 256 << 10;
    const FEEDS: usize = 4;

    /// Starts a server that responds to each request with a document of this size. Returns its address and the number
    /// of requests.
    async fn serve(bytes: usize) -> (Url, watch::Receiver<usize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
        let (count, requests) = watch::channel(0);
        tokio::spawn(async move {
            while let Ok((mut connection, _)) = listener.accept().await {
                let count = count.clone();
                tokio::spawn(async move {
                    assert!(connection.read(&mut [0; 1024]).await.unwrap() > 0);
                    count.send_modify(|count| *count += 1);
                    let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {bytes}\r\n\r\n");
                    // A client that has read enough closes the connection.
                    if connection.write_all(head.as_bytes()).await.is_ok() {
                        drop(connection.write_all(&vec![b' '; bytes]).await);
                    }
                });
            }
        });
        (url, requests)
    }

    async fn download(memory: &FetchMemory, outbound: &Outbound, url: &Url) -> Download {
        let (headers, timeout) = (HeaderMap::new(), Duration::from_secs(30));
        let request = Request { method: Method::GET, url, headers, body: None, timeout, max_body: LARGE_BYTES + 1 };
        memory.download(outbound, EgressPolicy::Everything, request).await.unwrap()
    }

    #[tokio::test]
    async fn one_large_document_is_in_memory_at_a_time() {
        let (url, requests) = serve(LARGE_BYTES).await;
        let memory = FetchMemory { max_small_bytes: LARGE_BYTES / 4, ..FetchMemory::default() };
        let outbound = Outbound::new(&NameResolver::System);
        let ended = Arc::new(AtomicUsize::new(0));
        let mut fetches = JoinSet::new();
        for _ in 0..FEEDS {
            let (memory, outbound, url, ended) = (memory.clone(), outbound.clone(), url.clone(), Arc::clone(&ended));
            let mut requests = requests.clone();
            fetches.spawn(async move {
                let Download { response, permit } = download(&memory, &outbound, &url).await;
                assert_eq!(response.body.len(), LARGE_BYTES);
                let all_began = requests.wait_for(|count| *count > FEEDS);
                tokio::time::timeout(Duration::from_secs(30), all_began).await.unwrap().unwrap();
                // Each feed has begun once. Of the second downloads, only those that ended and this one have begun.
                assert_eq!(*requests.borrow(), FEEDS + 1 + ended.fetch_add(1, Ordering::SeqCst));
                drop(permit.expect("a large document needs a permit"));
            });
        }
        while let Some(fetch) = fetches.join_next().await {
            fetch.unwrap();
        }
        assert_eq!(*requests.borrow(), 2 * FEEDS);
    }

    #[tokio::test]
    async fn small_document_is_downloaded_once_while_a_large_one_is_in_memory() {
        let (large_url, _) = serve(LARGE_BYTES).await;
        let (small_url, requests) = serve(LARGE_BYTES / 4).await;
        let memory = FetchMemory { max_small_bytes: LARGE_BYTES / 4, ..FetchMemory::default() };
        let outbound = Outbound::new(&NameResolver::System);
        let large = download(&memory, &outbound, &large_url).await;
        let small = download(&memory, &outbound, &small_url).await;
        assert_eq!((small.response.body.len(), small.permit.is_some()), (LARGE_BYTES / 4, false));
        assert_eq!((*requests.borrow(), large.permit.is_some()), (1, true));
    }

    #[tokio::test]
    async fn one_document_is_imported_at_a_time() {
        let memory = FetchMemory::default();
        let first = memory.begin_import().await.unwrap();
        let clone = memory.clone();
        assert!(tokio::time::timeout(Duration::ZERO, clone.begin_import()).await.is_err());
        drop(first);
        drop(tokio::time::timeout(Duration::from_secs(30), clone.begin_import()).await.unwrap().unwrap());
    }
}
