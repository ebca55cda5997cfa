//! The customers' web servers, which callbacks go to.

use super::fault::Fault;
use super::state::{Outside, State};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

/// Where callbacks go. At the last one nothing ever works, where receivers fail at all.
pub(crate) const ORIGINS: [&str; 3] = ["http://9.9.9.1", "http://9.9.9.2:8080", "http://9.9.9.3"];

/// The message and recipient of a callback.
pub(crate) type Subject = (String, u64);

/// The state of the receivers.
#[derive(Default)]
pub(crate) struct Receivers {
    /// The outcomes that were taken.
    pub(crate) taken: BTreeMap<Subject, Vec<String>>,
    /// Messages of which a receiver wants no callback any more.
    pub(crate) gone: BTreeSet<String>,
    /// How many attempts were seen of each, and whether one was told that it is unwanted.
    pub(crate) seen: BTreeMap<Subject, (u64, bool)>,
    /// How many attempts failed at each origin before anything of them was seen.
    pub(crate) unseen: BTreeMap<&'static str, u64>,
}

/// The origin that listens there.
pub(crate) fn origin(address: SocketAddr) -> &'static str {
    let host = format!("http://{}", address.ip());
    let mut all = ORIGINS.into_iter();
    all.find(|origin| origin.starts_with(&host)).unwrap()
}

/// The reaction of a receiver to a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Manner {
    Answer(u16),
    Hang,
    HangUp,
}

/// Plays a receiver on one connection.
pub(crate) async fn serve(outside: Outside, address: SocketAddr, mut stream: DuplexStream) {
    let mut input = Vec::new();
    loop {
        let Some((attempt, body)) = request(&mut input) else {
            match stream.read_buf(&mut input).await {
                Ok(0) | Err(_) => return,
                Ok(_) => continue,
            }
        };
        let (subject, status) = read(&body);
        let manner = {
            let mut state = outside.lock();
            let manner = manner(&mut state, address);
            let (message, recipient) = &subject;
            state.note(&format!(
                "receiver {address}: {message} {recipient} {status} attempt {attempt}: {manner:?}"
            ));
            let seen = state.receivers.seen.entry(subject.clone()).or_default();
            seen.0 += 1;
            seen.1 |= matches!(manner, Manner::Answer(404 | 410));
            if manner == Manner::Answer(410) {
                state.receivers.gone.insert(subject.0.clone());
            }
            manner
        };
        match manner {
            Manner::Hang => std::future::pending().await,
            Manner::HangUp => return,
            Manner::Answer(code) => {
                let answer =
                    format!("HTTP/1.1 {code} x\r\nretry-after: 3\r\ncontent-length: 0\r\n\r\n");
                if stream.write_all(answer.as_bytes()).await.is_err() {
                    return;
                }
                if code == 200 {
                    let mut state = outside.lock();
                    state
                        .receivers
                        .taken
                        .entry(subject)
                        .or_default()
                        .push(status);
                }
            }
        }
    }
}

fn manner(state: &mut State, address: SocketAddr) -> Manner {
    if origin(address) == ORIGINS[2] && state.faults.contains(&Fault::CallbackFails) {
        return Manner::Answer(503);
    }
    if state.strikes(Fault::CallbackFails, 40) {
        Manner::Answer(state.dice.pick(&[500, 502, 429]))
    } else if state.strikes(Fault::CallbackHangs, 15) {
        Manner::Hang
    } else if state.strikes(Fault::CallbackRefused, 15) {
        Manner::HangUp
    } else if state.strikes(Fault::CallbackUnwanted, 15) {
        Manner::Answer(state.dice.pick(&[404, 410]))
    } else {
        Manner::Answer(200)
    }
}

/// Takes the first whole request out: the number of its attempt, and its body.
fn request(input: &mut Vec<u8>) -> Option<(u64, Vec<u8>)> {
    let end = input.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = String::from_utf8(input[..end].to_vec())
        .unwrap()
        .to_lowercase();
    let number = |name: &str| -> u64 {
        let (_, rest) = head.split_once(name).unwrap();
        rest.lines().next().unwrap().trim().parse().unwrap()
    };
    let length = usize::try_from(number("content-length:")).unwrap();
    let attempt = number("ogene-attempt:");
    let body = input.get(end..end + length)?.to_vec();
    input.drain(..end + length);
    Some((attempt, body))
}

/// Returns the subject and the status of a callback.
fn read(body: &[u8]) -> (Subject, String) {
    let body: Value = serde_json::from_slice(body).unwrap();
    let text = |name: &str| body[name].as_str().unwrap().to_owned();
    let recipient = text("recipient").parse().unwrap();
    ((text("message_id"), recipient), text("delivery_status"))
}
