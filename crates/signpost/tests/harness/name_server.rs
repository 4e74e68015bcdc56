//! A name server on loopback with configured records.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use hickory_resolver::proto::op::{Message, MessageType, ResponseCode};
use hickory_resolver::proto::rr::rdata::TXT;
use hickory_resolver::proto::rr::{RData, Record, RecordType};
use tokio::net::UdpSocket;

#[derive(Debug)]
pub(crate) struct NameServer {
    pub(crate) address: SocketAddr,
    zone: Arc<Mutex<HashMap<String, DnsAnswer>>>,
}

/// The records of a name. A name without an entry does not exist.
#[derive(Clone, Debug)]
enum DnsAnswer {
    Texts(Vec<String>),
    /// The addresses of the name: each response uses the next list, and the last list repeats.
    Addresses(VecDeque<Vec<IpAddr>>),
    Failure,
    NoReply,
}

impl NameServer {
    pub(crate) async fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a free port");
        let (address, zone) = (socket.local_addr().expect("an address"), Arc::default());
        tokio::spawn(serve(socket, Arc::clone(&zone)));
        Self { address, zone }
    }

    /// Returns the server's address as a setting.
    pub(crate) fn setting(&self) -> String {
        self.address.to_string()
    }

    /// Sets the TXT records of a name.
    pub(crate) fn set_txt(&self, name: &str, texts: &[&str]) {
        self.set(name, DnsAnswer::Texts(texts.iter().map(ToString::to_string).collect()));
    }

    /// Sets the addresses of a name, one list per response.
    pub(crate) fn set_addresses(&self, name: &str, answers: &[&[IpAddr]]) {
        self.set(name, DnsAnswer::Addresses(answers.iter().map(|addresses| addresses.to_vec()).collect()));
    }

    /// Responds to queries for a name with a server failure.
    pub(crate) fn fail_for(&self, name: &str) {
        self.set(name, DnsAnswer::Failure);
    }

    /// Never responds to queries for a name's TXT or address records.
    pub(crate) fn ignore(&self, name: &str) {
        self.set(name, DnsAnswer::NoReply);
    }

    fn set(&self, name: &str, answer: DnsAnswer) {
        self.zone.lock().unwrap().insert(name.to_owned(), answer);
    }
}

async fn serve(socket: UdpSocket, zone: Arc<Mutex<HashMap<String, DnsAnswer>>>) {
    let mut buffer = [0; 2048];
    loop {
        let Ok((length, client)) = socket.recv_from(&mut buffer).await else { return };
        let Ok(question) = Message::from_vec(&buffer[..length]) else { continue };
        let reply = answer(question, &mut zone.lock().unwrap());
        if let Some(bytes) = reply.and_then(|reply| reply.to_vec().ok()) {
            drop(socket.send_to(&bytes, client).await);
        }
    }
}

fn answer(question: Message, zone: &mut HashMap<String, DnsAnswer>) -> Option<Message> {
    let query = question.queries.first()?.clone();
    let name = query.name().to_utf8().trim_end_matches('.').to_lowercase();
    let mut reply = question;
    reply.metadata.message_type = MessageType::Response;
    reply.additionals.clear();
    match zone.get_mut(&name) {
        Some(DnsAnswer::NoReply) => return None,
        Some(DnsAnswer::Failure) => reply.metadata.response_code = ResponseCode::ServFail,
        Some(DnsAnswer::Texts(texts)) if query.query_type() == RecordType::TXT => {
            for text in texts {
                // A TTL of one hour: a resolver with a cache would miss the next answer.
                let data = RData::TXT(TXT::new(vec![text.clone()]));
                reply.add_answer(Record::from_rdata(query.name().clone(), 3600, data));
            }
        }
        Some(DnsAnswer::Addresses(answers)) if query.query_type() == RecordType::A => {
            let addresses = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
            for address in addresses.unwrap_or_default() {
                let IpAddr::V4(v4) = address else { continue };
                reply.add_answer(Record::from_rdata(query.name().clone(), 0, RData::A(v4.into())));
            }
        }
        Some(DnsAnswer::Texts(_) | DnsAnswer::Addresses(_)) => {}
        None => reply.metadata.response_code = ResponseCode::NXDomain,
    }
    Some(reply)
}
