//! Slow or greedy clients: they are closed in bounded time, and other clients do not wait for them.

use crate::kit::http::Request;
use crate::kit::{AIRTEL, MTN, Ogene, SENDER, Setup, http2, to, until};
use std::io;
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval, timeout};

/// Timeout of clients in these tests.
const IDLE: Duration = Duration::from_secs(2);
/// Maximum life of a bad connection: two checks and the time of its end, with a reserve for a busy
/// machine.
const CLOSED_WITHIN: Duration = Duration::from_secs(30);
/// Maximum wait of another client for an answer meanwhile.
const OTHERS_WAIT: Duration = Duration::from_secs(5);

async fn impatient() -> Ogene {
    let idle = format!("\"{}s\"", IDLE.as_secs());
    Setup::new()
        .set("http.idle_timeout", &idle)
        .set("http.body_timeout", &idle)
        .set("limits.reads_per_minute", "1000000")
        .start()
        .await
}

/// Sends requests until the bad connections are over, and fails if an answer takes too long.
async fn meanwhile<T>(ogene: &Ogene, bad: JoinHandle<T>) -> T {
    let balance = Request::get("/api/v2/balance").bearer(&ogene.shop.token);
    let begun = Instant::now();
    while !bad.is_finished() {
        let asked = Instant::now();
        assert_eq!(ogene.ask(&balance).await.status, 200);
        assert!(asked.elapsed() < OTHERS_WAIT, "{:?}", asked.elapsed());
        assert!(begun.elapsed() < CLOSED_WITHIN, "still open");
    }
    bad.await.expect("no panic")
}

/// Reads until the connection is closed in any way.
async fn until_closed(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let _reset_or_not = timeout(CLOSED_WITHIN, read).await.expect("closed in time");
    answer
}

/// Sends the beginning at once, and then an octet at each interval until the connection is closed.
async fn trickle(
    address: SocketAddr,
    beginning: &[u8],
    more: u8,
) -> (OwnedReadHalf, JoinHandle<()>) {
    let stream = TcpStream::connect(address).await.expect("a connection");
    let (reading, mut writing) = stream.into_split();
    let beginning = beginning.to_vec();
    let writer = tokio::spawn(async move {
        let mut pace = interval(Duration::from_millis(50));
        let mut said = writing.write_all(&beginning).await;
        while said.is_ok() {
            pace.tick().await;
            said = writing.write_all(&[more]).await;
        }
    });
    (reading, writer)
}

#[tokio::test]
async fn heads_and_bodies_that_trickle_are_cut_off() {
    let ogene = impatient().await;
    let token = &ogene.shop.token;
    let body = format!(
        "POST /api/v2/sms HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: 9999\r\n\r\n"
    );
    let chunked = format!(
        "POST /api/v2/sms HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nTransfer-Encoding: chunked\r\n\r\n270f\r\n"
    );
    let unknown = "POST /api/v2/sms HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\n\r\n".to_owned();
    let beginnings = [
        (String::new(), None),
        ("P".to_owned(), None),
        ("GET /api/v2/balance HTTP/1.1\r\nX-Long: ".to_owned(), None),
        (body, Some(" 400 ")),
        (chunked, Some(" 400 ")),
        (unknown, Some(" 401 ")),
    ];
    let address = ogene.address;
    let bad = tokio::spawn(async move {
        for (beginning, status) in beginnings {
            let (mut reading, writer) = trickle(address, beginning.as_bytes(), b' ').await;
            let answer = until_closed(&mut reading).await;
            let answer = String::from_utf8_lossy(&answer);
            assert!(
                status.is_none_or(|status| answer.contains(status)),
                "{beginning} {answer}"
            );
            writer.abort();
        }
    });
    // The connections are tried one after the other, so that each has its own bound.
    let balance = Request::get("/api/v2/balance").bearer(token);
    while !bad.is_finished() {
        let asked = Instant::now();
        assert_eq!(ogene.ask(&balance).await.status, 200);
        assert!(asked.elapsed() < OTHERS_WAIT, "{:?}", asked.elapsed());
    }
    bad.await.expect("each is cut off");
    ogene.end().await;
}

#[tokio::test]
async fn heads_without_end_are_refused() {
    let ogene = impatient().await;
    let address = ogene.address;
    let bad = tokio::spawn(async move {
        let stream = TcpStream::connect(address).await.expect("a connection");
        let (mut reading, mut writing) = stream.into_split();
        let writer = tokio::spawn(async move {
            let mut said = writing
                .write_all(b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: ")
                .await;
            while said.is_ok() {
                said = writing.write_all(&[b'x'; 8_192]).await;
            }
        });
        let answer = until_closed(&mut reading).await;
        writer.await.expect("no panic");
        // The refusal may be lost with octets that were in flight.
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(answer.is_empty() || answer.contains(" 431 "), "{answer}");

        // The same holds on HTTP/2: the head continues from frame to frame.
        let (mut reading, mut writing) = http2::connect(address).await.into_split();
        let writer = tokio::spawn(async move {
            let head = http2::get("/", &[]);
            let first = http2::frame(http2::HEADERS, 0, 1, &head);
            let mut said = writing.write_all(&first).await;
            let more = http2::frame(
                http2::CONTINUATION,
                0,
                1,
                &[0, 1, b'x', 1, b'x'].repeat(3_000),
            );
            while said.is_ok() {
                said = writing.write_all(&more).await;
            }
        });
        until_closed(&mut reading).await;
        writer.await.expect("no panic");
    });
    meanwhile(&ogene, bad).await;
    ogene.end().await;
}

#[tokio::test]
async fn a_head_may_be_as_long_on_http2_as_on_http1() {
    let ogene = Ogene::start().await;
    // The longest text, of emoji, in a query string is longer than a frame of HTTP/2.
    let text = "%F0%9F%98%80".repeat(1_530);
    let path = |to: &str| {
        let token = &ogene.shop.token;
        format!("/api/sandbox/v2/sms?api_token={token}&from={SENDER}&to={to}&unicode=1&body={text}")
    };
    let status = async |path: &str| {
        let answer = ogene.ask(&Request::get(path)).await;
        assert_eq!(
            http2::ask(ogene.address, &path.replace(MTN, AIRTEL), &[]).await,
            answer.status
        );
        answer.status
    };
    assert_eq!(status(&path(MTN)).await, 200);
    assert_eq!(status(&format!("/{}", "x".repeat(60_000))).await, 404);
    let long = "x".repeat(70_000);
    let fields = [("x-long", &*long)];
    let http1 = Request::get("/healthz").header("X-Long", &long);
    assert_eq!(ogene.ask(&http1).await.status, 431);
    assert_eq!(http2::ask(ogene.address, "/healthz", &fields).await, 431);
    ogene.end().await;
}

/// Raises the limit of open files for so many connections with both ends. Many systems start with
/// fewer.
fn make_room_for(connections: usize) {
    let wanted = 2 * connections + 500;
    let limits = std::fs::read_to_string("/proc/self/limits").expect("Linux tells");
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().nth(3));
    let files = soft
        .and_then(|soft| soft.parse().ok())
        .unwrap_or(usize::MAX);
    if files >= wanted {
        return;
    }
    let raised = Command::new("prlimit")
        .args(["--pid", &std::process::id().to_string()])
        .arg(format!("--nofile={wanted}:"))
        .status();
    assert!(
        raised.is_ok_and(|status| status.success()),
        "{wanted} files have to be open and {files} may be: raise `ulimit -Hn`"
    );
}

#[tokio::test]
async fn five_thousand_idle_connections_hold_nobody_up_and_are_closed() {
    make_room_for(5_000);
    let ogene = impatient().await;
    let mut idle = Vec::new();
    for _ in 0..5_000 {
        idle.push(
            TcpStream::connect(ogene.address)
                .await
                .expect("a connection"),
        );
    }
    let sent = ogene.send(to(MTN, "In the middle of it")).await;
    assert_eq!(sent.status, 200, "{}", sent.text());
    let bad = tokio::spawn(async move {
        for stream in &mut idle {
            until_closed(stream).await;
        }
    });
    meanwhile(&ogene, bad).await;
    ogene.end().await;
}

#[tokio::test]
async fn whoever_finds_no_room_is_served_once_the_idle_are_closed() {
    let mut ogene = Setup::new()
        .set("http.idle_timeout", "\"2s\"")
        .set("http.max_connections", "20")
        .start()
        .await;
    let mut idle = Vec::new();
    for _ in 0..40 {
        idle.push(
            TcpStream::connect(ogene.address)
                .await
                .expect("a connection"),
        );
    }
    let answer = timeout(CLOSED_WITHIN, ogene.send(to(MTN, "At last"))).await;
    assert_eq!(answer.expect("served in time").status, 200);
    drop(idle);
    ogene.restart().await;
    ogene.end().await;
}

/// A body that arrives except for its end.
async fn hold_back(address: SocketAddr, head: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let head =
        format!("POST /api/v2/sms HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n{head}\r\n");
    stream.write_all(head.as_bytes()).await.expect("a head");
    stream
        .write_all(&b" ".repeat(59_000))
        .await
        .expect("a body");
    stream
}

#[tokio::test]
async fn only_large_bodies_are_refused_for_lack_of_memory() {
    let ogene = Setup::new()
        .set("limits.max_body", "\"64KiB\"")
        .set("limits.body_memory", "\"256KiB\"")
        .start()
        .await;
    let token = ogene.shop.token.clone();
    let large = |fields: &str| {
        Request::post("/api/v2/sms").body("application/json", format!("{fields:60000}"))
    };
    // Neither is a whole send, so that both can be repeated.
    let of_a_customer = large("{}").bearer(&token);
    let of_a_stranger = large(&format!(r#"{{"api_token":"{token}"}}"#));
    let status = async |request: &Request| ogene.ask(request).await.status;
    assert_eq!(status(&of_a_customer).await, 400);
    assert_eq!(status(&of_a_stranger).await, 400);

    // Each round has one more request: two of them may each hold the memory that the other needs.
    // The refusal that is found is checked, since a further request may find memory again.
    let (mut strangers, mut customers) = (Vec::new(), Vec::new());
    let full = async |request: &Request| {
        let answer = ogene.ask(request).await;
        (answer.status == 503).then_some(answer)
    };
    until("strangers have no room", async || {
        strangers.push(hold_back(ogene.address, "").await);
        full(&of_a_stranger).await
    })
    .await;
    assert_eq!(
        status(&of_a_customer).await,
        400,
        "customers have their own"
    );
    let head = format!("Authorization: Bearer {token}\r\n");
    let refused = until("customers have none", async || {
        customers.push(hold_back(ogene.address, &head).await);
        full(&of_a_customer).await
    })
    .await;
    assert_eq!(
        (refused.code().as_str(), refused.header("retry-after")),
        ("API-5003", Some("1"))
    );
    let sent = ogene.send(to(MTN, "Small")).await;
    assert_eq!(sent.status, 200, "{}", sent.text());

    drop((strangers, customers));
    let served = async |request: &Request| (status(request).await == 400).then_some(());
    until("all have room again", async || served(&of_a_stranger).await).await;
    until("all have room again", async || served(&of_a_customer).await).await;
    ogene.end().await;
}

#[tokio::test]
async fn whoever_does_not_read_what_was_answered_is_cut_off() {
    let ogene = impatient().await;
    let mut stream = TcpStream::connect(ogene.address)
        .await
        .expect("a connection");
    let bad = tokio::spawn(async move {
        let requests = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(100);
        let ask: io::Result<()> = async {
            loop {
                stream.write_all(&requests).await?;
            }
        }
        .await;
        assert!(ask.is_err());
    });
    meanwhile(&ogene, bad).await;
    ogene.end().await;
}

#[tokio::test]
async fn http2_that_is_kept_open_by_pings_alone_is_closed() {
    let ogene = impatient().await;
    let address = ogene.address;
    let bad = tokio::spawn(async move {
        let (mut reading, mut writing) = http2::connect(address).await.into_split();
        let writer = tokio::spawn(async move {
            let mut pace = interval(Duration::from_millis(100));
            let ping = http2::frame(http2::PING, 0, 0, &[0; 8]);
            while writing.write_all(&ping).await.is_ok() {
                pace.tick().await;
            }
        });
        until_closed(&mut reading).await;
        writer.abort();
    });
    meanwhile(&ogene, bad).await;
    ogene.end().await;
}

#[tokio::test]
async fn rapid_resets_end_the_connection_and_nothing_else() {
    let ogene = impatient().await;
    let address = ogene.address;
    let bad = tokio::spawn(async move {
        let (mut reading, mut writing) = http2::connect(address).await.into_split();
        let writer = tokio::spawn(async move {
            let head = http2::get("/api/v2/balance", &[]);
            let mut said = Ok(());
            let mut stream = 1;
            while said.is_ok() {
                let flags = http2::END_HEADERS | http2::END_STREAM;
                let mut pairs = Vec::new();
                for _ in 0..100 {
                    pairs.extend(http2::frame(http2::HEADERS, flags, stream, &head));
                    pairs.extend(http2::frame(
                        http2::RST_STREAM,
                        0,
                        stream,
                        &8_u32.to_be_bytes(),
                    ));
                    stream += 2;
                }
                said = writing.write_all(&pairs).await;
            }
        });
        while http2::next(&mut reading).await.is_some() {}
        writer.await.expect("no panic");
    });
    meanwhile(&ogene, bad).await;
    ogene.end().await;
}
