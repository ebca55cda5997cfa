//! Clients that send as fast as they can.

use super::start;
use crate::kit::Setup;
use crate::kit::esme::{Esme, message};
use engine::operators::NewSmppUser;
use smpp::codec::{Pdu, encode};
use smpp::{BindKind, CommandStatus};
use std::time::{Duration, Instant};

/// Requests of a flood. Many more octets than a server reads at once.
const REQUESTS: u32 = 2_000;

#[tokio::test]
async fn rejected_requests_are_read_at_a_limit() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut flood = Esme::bound(address, BindKind::Receiver, &user).await;
    let mut octets = Vec::new();
    for sequence in 2..2 + REQUESTS {
        let submit = Pdu::Submit(message(&[b'a'; 150]));
        encode(&mut octets, CommandStatus::ROK, sequence, &submit).expect("it can be encoded");
    }
    let began = Instant::now();
    flood.write_octets(&octets).await;
    for _ in 0..REQUESTS {
        let answer = flood.read().await.expect("an answer");
        assert_eq!(answer.status, CommandStatus::RINVBNDSTS, "{answer:?}");
    }
    // 1,000 of them may come at once, and as many again in a second. The last read may be early.
    let took = began.elapsed();
    assert!(took > Duration::from_millis(500), "{took:?}");
    let probed = flood.ask(&Pdu::EnquireLink).await;
    assert_eq!(probed.status, CommandStatus::ROK);
    ogene.end().await;
}
