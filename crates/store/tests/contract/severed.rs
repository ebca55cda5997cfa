//! A connection to PostgreSQL that is lost during a commit or a query.

use super::otps;
use domain::{AccountStatus, Component, DeliveryStatus, Environment, NodeId};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use store::{Accepted, ArrivedPage, AuditEntry, Credited, KeptPages, Settled};
use storekit::{
    CARRIER, Kit, NOW, Sending, by, claim, credit, delivered, naira, otp_moment, report, sending,
    taken,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

/// The moment at which a connection is cut.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Cut {
    /// The server does not receive the commit.
    Before,
    /// The server has committed, and its answer is lost.
    After,
    /// A query with these words is dropped, and the connection stays open.
    Silence(&'static str),
    /// The commit is dropped, and the connection stays open with its locks.
    Held,
    /// The server does not receive the beginning, like after a restart since the last use of the
    /// connection.
    Rested,
}

impl Cut {
    /// Returns the first words of the statement.
    fn word(self) -> &'static [u8] {
        match self {
            Self::Before | Self::After | Self::Held => b"commit\0",
            Self::Silence(words) => words.as_bytes(),
            Self::Rested => b"begin; select",
        }
    }
}

/// A proxy between a node and the server, which cuts so many connections at commits.
struct Scissors {
    port: u16,
    left: Arc<AtomicUsize>,
    /// While this is locked, the client of a cut connection does not notice the cut.
    gate: Arc<Mutex<()>>,
}

impl Scissors {
    async fn new(cut: Cut) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let left = Arc::new(AtomicUsize::new(0));
        let cuts = Arc::clone(&left);
        let gate = Arc::new(Mutex::new(()));
        let closed = Arc::clone(&gate);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, cut, Arc::clone(&cuts), Arc::clone(&closed)));
            }
        });
        Self { port, left, gate }
    }

    fn cut_next(&self, commits: usize) {
        self.left.store(commits, Ordering::SeqCst);
    }

    fn is_done(&self) -> bool {
        self.left.load(Ordering::SeqCst) == 0
    }
}

fn socket() -> PathBuf {
    let url = testkit::postgres_url();
    let host = url.split("host=").nth(1).unwrap();
    PathBuf::from(host.split('&').next().unwrap()).join(".s.PGSQL.5432")
}

async fn carry(mut client: TcpStream, cut: Cut, left: Arc<AtomicUsize>, gate: Arc<Mutex<()>>) {
    let mut server = UnixStream::connect(socket()).await.unwrap();
    let (mut from_client, mut from_server) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        tokio::select! {
            read = client.read(&mut from_client) => {
                let Ok(count @ 1..) = read else { return };
                let said = &from_client[..count];
                let word = cut.word();
                let is_said = said.windows(word.len()).any(|part| part == word);
                let takes = |left: usize| left.checked_sub(1);
                if is_said && left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, takes).is_ok() {
                    if cut == Cut::After {
                        server.write_all(said).await.unwrap();
                        // The answer of the server confirms the commit.
                        let _ = server.read(&mut from_server).await;
                    }
                    if matches!(cut, Cut::Silence(_) | Cut::Held) {
                        // The proxy waits until the client gives up.
                        while client.read(&mut from_client).await.is_ok_and(|count| count > 0) {}
                    }
                    if matches!(cut, Cut::Before | Cut::After) {
                        let _ = server.shutdown().await;
                        let _open = gate.lock().await;
                    }
                    return;
                }
                server.write_all(said).await.unwrap();
            }
            read = server.read(&mut from_server) => {
                let Ok(count @ 1..) = read else { return };
                if client.write_all(&from_server[..count]).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Runs a rule with connections that are cut before and after the server has committed.
async fn severed<R: Future<Output = ()>>(rule: impl Fn(Arc<Kit>, store::Store, Scissors) -> R) {
    for cut in [Cut::Before, Cut::After] {
        let kit = Arc::new(Kit::postgres().await);
        let scissors = Scissors::new(cut).await;
        let store = kit.by_port(scissors.port).await;
        rule(Arc::clone(&kit), store.clone(), scissors).await;
        store.close().await;
        let kit = Arc::into_inner(kit).expect("the rule is over");
        kit.finish().await;
    }
}

#[tokio::test]
async fn a_page_with_a_lost_commit_is_kept_once() {
    testkit::needs!(Postgres);
    severed(
        async |kit: Arc<Kit>, store: store::Store, scissors: Scissors| {
            let page = ArrivedPage {
                id: 7,
                carrier: CARRIER.to_owned(),
                sender: "2348031234567".to_owned(),
                number: "32811".to_owned(),
                reference: 7,
                total: 1,
                page: 1,
                data_coding: 0,
                octets: b"Yes".to_vec(),
                received_at_ms: NOW,
                fingerprint: [7; 16],
                connection: 70,
            };
            let kept = KeptPages {
                pages: vec![page],
                ended: vec![],
                bound: vec![70],
            };
            let open = scissors.gate.lock().await;
            scissors.cut_next(1);
            let keeping = store.clone();
            let keeping = tokio::spawn(async move {
                keeping.inbound_pages().keep(NodeId(1), kept).await.unwrap()
            });
            while !scissors.is_done() {
                tokio::task::yield_now().await;
            }
            // Another node joins the page if it was committed, before the first one tries again.
            let joined = kit.store.inbound_pages().remove(vec![7]).await.unwrap();
            drop(open);
            assert_eq!(keeping.await.unwrap(), 0);
            let pages = kit.numbers("select count(*) from inbound_pages").await;
            assert_eq!(pages, [i64::from(!joined)]);
        },
    )
    .await;
}

#[tokio::test]
async fn a_send_with_a_lost_commit_is_charged_once() {
    testkit::needs!(Postgres);
    severed(
        async |kit: Arc<Kit>, store: store::Store, scissors: Scissors| {
            let account = kit.account(100).await;
            for sends in 1..=3 {
                let message = sending(account).message(&store);
                scissors.cut_next(1);
                let answers = store.messages().accept(NOW, vec![message]).await.unwrap();
                let balance = naira(100 - 6 * sends);
                assert_eq!(answers, [Accepted::Yes { balance }]);
                assert!(scissors.is_done());
                assert_eq!(kit.balance(account).await, balance);
                let messages = kit.numbers("select count(*) from messages").await;
                assert_eq!(messages, [sends]);
            }
        },
    )
    .await;
}

/// Another attempt comes before the first one knows that its commit was cut.
#[tokio::test]
async fn a_code_whose_commit_was_lost_is_verified_once() {
    testkit::needs!(Postgres);
    severed(
        async |kit: Arc<Kit>, store: store::Store, scissors: Scissors| {
            let text = otps::text(1);
            let account = otps::made(&kit, text).await;
            let verify = async |store: store::Store| {
                let codes = (
                    text.code(otps::KEY),
                    otps::given(text.code(otps::KEY).as_str()),
                );
                let otps = store.otps();
                let moment = otp_moment(NOW);
                let verified =
                    otps.verify(account, Environment::Live, text.id, codes, moment, None);
                let reason = otps::change(verified.await.unwrap()).result.reason;
                reason.is_none()
            };
            let closed = scissors.gate.lock().await;
            scissors.cut_next(1);
            let other = async {
                while !scissors.is_done() {
                    tokio::task::yield_now().await;
                }
                let is_verified = verify(kit.store.clone()).await;
                drop(closed);
                is_verified
            };
            let (first, other) = tokio::join!(verify(store.clone()), other);
            assert!(first != other, "{first} and {other}");
        },
    )
    .await;
}

#[tokio::test]
async fn a_claim_whose_commit_was_lost_is_in_hand_all_the_same() {
    testkit::needs!(Postgres);
    severed(
        async |kit: Arc<Kit>, store: store::Store, scissors: Scissors| {
            let message = Sending {
                recipients: 5,
                ..sending(kit.account(100).await)
            };
            kit.accept(&message.message(&store)).await;
            scissors.cut_next(1);
            let claimed = store.claims().claim(claim(10)).await.unwrap();
            assert!(scissors.is_done());
            assert_eq!(claimed.len(), 1);
            let sql = format!("select claimed_by from batches where carrier = '{CARRIER}'");
            assert_eq!(kit.numbers(&sql).await, [storekit::NODE.0]);
        },
    )
    .await;
}

#[tokio::test]
async fn a_release_whose_commit_was_lost_waits_once() {
    testkit::needs!(Postgres);
    severed(
        async |kit: Arc<Kit>, store: store::Store, scissors: Scissors| {
            let message = sending(kit.account(100).await).message(&store);
            let claimed = kit.accept_and_claim(&message).await;
            let batches = claimed.into_iter().map(|claimed| claimed.batch).collect();
            scissors.cut_next(1);
            store
                .claims()
                .release(batches, NOW, None, NOW)
                .await
                .unwrap();
            assert!(scissors.is_done());
            let waiting = "select count(*) from batches where claimed_by = 0";
            assert_eq!(kit.numbers(waiting).await, [1]);
            assert_eq!(kit.claim(10).await.len(), 1);
        },
    )
    .await;
}

#[tokio::test]
async fn a_credit_whose_commit_was_lost_is_new_and_credits_once() {
    testkit::needs!(Postgres);
    severed(
        async |kit: Arc<Kit>, store: store::Store, scissors: Scissors| {
            let account = kit.account(1).await;
            let entry = credit(account, Component::SmsWallet, 50, "severed");
            scissors.cut_next(1);
            assert_eq!(
                store.wallets().credit(entry, by(NOW)).await.unwrap(),
                Credited::New
            );
            assert!(scissors.is_done());
            assert_eq!(kit.balance(account).await, naira(51));
        },
    )
    .await;
}

#[tokio::test]
async fn a_change_of_an_operator_whose_commit_was_lost_has_one_entry() {
    testkit::needs!(Postgres);
    severed(
        async |kit: Arc<Kit>, store: store::Store, scissors: Scissors| {
            let account = kit.account(0).await;
            scissors.cut_next(1);
            let set = store.accounts().set_status(
                account,
                AccountStatus::Restricted,
                domain::Queued::Hold,
                by(NOW),
            );
            assert!(set.await.unwrap());
            assert!(scissors.is_done());
            let entries = kit
                .store
                .audit()
                .list(Some(account), None, 10)
                .await
                .unwrap();
            let states = |entry: &AuditEntry| entry.verb == "account.set-status";
            assert_eq!(entries.iter().filter(|&entry| states(entry)).count(), 1);
            assert_eq!(entries[0].before, r#"{"queued":"send","status":"active"}"#);
        },
    )
    .await;
}

#[tokio::test]
async fn what_a_carrier_said_in_a_lost_commit_is_kept_and_told_once() {
    testkit::needs!(Postgres);
    severed(
        async |kit: Arc<Kit>, store: store::Store, scissors: Scissors| {
            let account = kit.account(1_000).await;
            for round in 1..=4 {
                let message = Sending {
                    recipients: 3,
                    first_number: 10 * round,
                    callback_url: Some("https://ada.example.ng/"),
                    ..sending(account)
                };
                let message = message.message(&kit.store);
                let claimed = kit.accept_and_claim(&message).await;
                // One of the three still waits for its response.
                let mut progress = taken(&claimed[0]);
                let (waiting, _) = progress.submitted.pop().unwrap();
                progress.remaining = vec![waiting];
                let to = progress.submitted[0].0;
                let mut settled = Settled::default();
                for heard in [
                    report(vec![progress], vec![]),
                    report(vec![], vec![delivered(to)]),
                ] {
                    scissors.cut_next(round);
                    let kept = store
                        .carrier_reports()
                        .commit(heard.into(), &mut settled)
                        .await;
                    assert!(kept.unwrap().is_empty());
                }
                assert_eq!(settled.callbacks.len(), 1);
                let statuses = [
                    Some(DeliveryStatus::Delivered),
                    Some(DeliveryStatus::Sent),
                    None,
                ];
                assert_eq!(kit.statuses(&message).await, statuses);
                scissors.cut_next(0);
                let mut rest = taken(&claimed[0]);
                rest.submitted.drain(..2);
                kit.report(report(vec![rest], vec![])).await;
                let sent = kit.statuses(&message).await[2];
                assert_eq!(sent, Some(DeliveryStatus::Sent));
            }
        },
    )
    .await;
}

#[tokio::test]
async fn unanswered_queries_time_out_and_free_their_connections() {
    const QUESTIONS: usize = 20;
    const SOON: Duration = Duration::from_secs(5);
    testkit::needs!(Postgres);
    let kit = Kit::postgres().await;
    let scissors = Scissors::new(Cut::Silence("name = 'revision'")).await;
    let store = kit.by_port(scissors.port).await;
    let ask = async || {
        let mut questions = JoinSet::new();
        for _ in 0..QUESTIONS {
            let store = store.clone();
            questions.spawn(async move { store.revisions().current().await });
        }
        questions.join_all().await
    };
    scissors.cut_next(usize::MAX);
    let answers = ask().await;
    assert!(
        answers
            .iter()
            .all(|answer| { answer.as_ref().is_err_and(database::Error::is_unavailable) })
    );
    scissors.cut_next(0);
    let answers = tokio::time::timeout(SOON, ask()).await.unwrap();
    assert!(answers.iter().all(Result::is_ok));
    store.close().await;
    kit.finish().await;
}

#[tokio::test]
async fn sweeps_whose_questions_are_never_answered_end() {
    testkit::needs!(Postgres);
    let kit = Kit::postgres().await;
    let swallowing = async |words| {
        let scissors = Scissors::new(Cut::Silence(words)).await;
        scissors.cut_next(usize::MAX);
        kit.by_port(scissors.port).await
    };
    let bucket = kit.store.bucket_of(kit.account(100).await);
    let messages = swallowing("length(recipients) / 7").await;
    let texts = swallowing("body is distinct from ''").await;
    let parts = swallowing("from carrier_ids").await;
    let planner = swallowing("pg_stat_get_live_tuples").await;
    let all = async {
        tokio::join!(
            async {
                messages
                    .retention()
                    .remove_messages(bucket, NOW, None)
                    .await
                    .err()
            },
            async {
                texts
                    .retention()
                    .remove_texts(bucket, NOW, None)
                    .await
                    .err()
            },
            async {
                parts
                    .retention()
                    .remove_parts(bucket, NOW, None, None)
                    .await
                    .err()
            },
            async { planner.upkeep().gather_statistics().await.err() },
        )
    };
    let ended = tokio::time::timeout(Duration::from_secs(40), all).await;
    let (one, two, three, four) = ended.expect("they end");
    for error in [one, two, three, four] {
        assert!(error.is_some_and(|error| error.is_unavailable()));
    }
    for store in [messages, texts, parts, planner] {
        store.close().await;
    }
    kit.finish().await;
}

#[tokio::test]
async fn a_change_that_lost_its_connection_early_is_retried() {
    testkit::needs!(Postgres);
    let kit = Kit::postgres().await;
    let scissors = Scissors::new(Cut::Rested).await;
    let store = kit.by_port(scissors.port).await;
    let account = kit.account(100).await;
    for lost in [1, 5] {
        scissors.cut_next(lost);
        let message = sending(account).message(&store);
        let answers = store.messages().accept(NOW, vec![message]).await.unwrap();
        assert!(matches!(answers[..], [Accepted::Yes { .. }]), "{answers:?}");
        assert!(scissors.is_done());
    }
    assert_eq!(kit.balance(account).await, naira(100 - 2 * 6));
    store.close().await;
    kit.finish().await;
}

#[tokio::test]
async fn the_locks_of_an_unreachable_node_do_not_block_others() {
    const SOON: Duration = Duration::from_secs(10);
    const HELD: usize = 4;
    testkit::needs!(Postgres);
    let kit = Kit::postgres().await;
    let account = kit.account(1).await;
    let scissors = Scissors::new(Cut::Held).await;
    let store = kit.by_port(scissors.port).await;
    scissors.cut_next(usize::MAX);
    let mut held = JoinSet::new();
    for count in 0..HELD {
        let entry = credit(account, Component::SmsWallet, 50, &format!("held {count}"));
        let store = store.clone();
        held.spawn(async move { store.wallets().credit(entry, by(NOW)).await });
    }
    // One change locks the wallet, and the others wait for it. Each of them is dropped in its turn.
    let waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'";
    let waits = async {
        while kit.numbers(waiting).await < vec![i64::try_from(HELD - 1).unwrap()] {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(SOON, waits).await.unwrap();
    let entry = credit(account, Component::SmsWallet, 5, "free");
    let credited = tokio::time::timeout(SOON, kit.store.wallets().credit(entry, by(NOW))).await;
    assert_eq!(credited.unwrap().unwrap(), Credited::New);
    held.shutdown().await;
    scissors.cut_next(0);
    drop(store);
    kit.finish().await;
}
