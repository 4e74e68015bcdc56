//! A name server of one test's own, on loopback: it knows the texts that the test publishes, and nothing else.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::net::UdpSocket;

type Texts = Arc<Mutex<HashMap<String, String>>>;

pub(crate) struct NameServer {
    pub(crate) address: SocketAddr,
    texts: Texts,
}

impl NameServer {
    pub(crate) async fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let (address, texts) = (socket.local_addr().unwrap(), Texts::default());
        let known = Arc::clone(&texts);
        tokio::spawn(async move {
            let mut packet = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut packet).await {
                if let Some(reply) = reply(&packet[..length], &known) {
                    drop(socket.send_to(&reply, from).await);
                }
            }
        });
        Self { address, texts }
    }

    /// Lets a name have this one text.
    pub(crate) fn publish(&self, name: &str, text: &str) {
        self.texts.lock().unwrap().insert(name.to_owned(), text.to_owned());
    }
}

/// RFC 1035, §4: the question back, with a TXT record where one is known, else "no such name".
fn reply(query: &[u8], texts: &Texts) -> Option<Vec<u8>> {
    const HEADER: usize = 12;
    const TXT: u16 = 16;
    let (mut at, mut labels) = (HEADER, Vec::new());
    loop {
        let length = usize::from(*query.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(query.get(at..at + length)?).to_lowercase());
        at += length;
    }
    let question = query.get(HEADER..at + 4)?;
    let kind = u16::from_be_bytes([query[at], query[at + 1]]);
    let text = texts.lock().unwrap().get(&labels.join(".")).cloned().filter(|_| kind == TXT);
    let code = if text.is_some() { 0 } else { 3 };
    let mut reply = query.get(..2)?.to_vec();
    reply.extend([0x81, 0x80 | code, 0, 1, 0, u8::from(text.is_some()), 0, 0, 0, 0]);
    reply.extend(question);
    if let Some(text) = text {
        let length = u8::try_from(text.len()).unwrap();
        // A pointer to the question's name, TXT, IN, an hour to live, and one string.
        reply.extend([0xc0, 12, 0, 16, 0, 1, 0, 0, 14, 16, 0, length + 1, length]);
        reply.extend(text.bytes());
    }
    Some(reply)
}
