//! `kill -9` under load: nothing accepted is lost, nothing is charged twice, and no more than one window is
//! sent twice.

use super::installation::Installation;
use super::process::Process;
use smpp::smsc::{Delay, Script, Smsc};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const WINDOW: usize = 20;
const BINDS: usize = 2;
/// Numbers from which the test's recipients count: those of the campaign, and of single sends.
const CAMPAIGN_FROM: u64 = 2_348_031_000_000;
const SINGLES_FROM: u64 = 2_348_061_000_000;
const CAMPAIGN: u64 = 3_000;
const SENDERS: usize = 8;

struct Customer {
    account: String,
    token: String,
}

fn set_up(ogene: &Installation, smsc: &Smsc) -> Customer {
    let config = format!(
        "[limits]\nsends_per_minute = 1000000\nreports_per_minute = 1000000\n\
         [carriers.mtn]\naddress = \"{}\"\nsystem_id = \"ogene\"\npassword = \"secret\"\n\
         binds = {BINDS}\nwindow = {WINDOW}\n\
         [gateways.direct-refund]\ncarriers = [\"mtn\"]\nprice = \"6.00\"\nin_doubt_hold = \"1s\"\n",
        smsc.address(),
    );
    ogene.configure(&config);
    let account = [
        "account",
        "create",
        "--name",
        "Ada",
        "--email",
        "ada@example.ng",
    ];
    let account = ogene.json(&account)["user_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let of = ["--account", &account];
    let token = ogene.json(&[&["token", "create", "--name", "shop"], &of[..]].concat());
    let sender = ["--sender-id", "AdaFoods"];
    ogene.json(
        &[
            &["sender-id", "register", "--purpose", "Orders"],
            &sender[..],
            &of[..],
        ]
        .concat(),
    );
    ogene.json(&[&["sender-id", "approve"], &sender[..], &of[..]].concat());
    let credit = [
        "wallet",
        "credit",
        "--amount",
        "9000000.00",
        "--reference",
        "bank-1",
    ];
    ogene.json(&[&credit[..], &of[..]].concat());
    let token = token["token"].as_str().expect("the token").to_owned();
    Customer { account, token }
}

fn serve(ogene: &Installation) -> (Process, String) {
    let mut process = Process::start(ogene.command(&["serve"]));
    let line = process.line_with("http.address");
    let address = line.split("http://").nth(1).expect("an address");
    let end = address.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ':'));
    (process, address[..end.unwrap_or(address.len())].to_owned())
}

/// One request on a connection that is kept; `None` when the service is gone.
fn request(
    connection: &mut BufReader<TcpStream>,
    token: &str,
    line: &str,
    body: &str,
) -> Option<String> {
    let head = format!(
        "{line} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    connection
        .get_mut()
        .write_all((head + body).as_bytes())
        .ok()?;
    let mut length = 0;
    loop {
        let mut header = String::new();
        if connection.read_line(&mut header).ok()? == 0 {
            return None;
        }
        if header == "\r\n" {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut answer = vec![0; length];
    connection.read_exact(&mut answer).ok()?;
    String::from_utf8(answer).ok()
}

fn connect(address: &str) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(address).expect("connected");
    stream.set_nodelay(true).expect("set");
    BufReader::new(stream)
}

fn send(connection: &mut BufReader<TcpStream>, token: &str, to: &str) -> Option<String> {
    let body = format!(r#"{{"from":"AdaFoods","to":[{to}],"body":"Your order is on its way"}}"#);
    let answer = request(connection, token, "POST /api/v2/sms", &body)?;
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(answer["status"], "success", "{answer}");
    Some(
        answer["data"]["message_id"]
            .as_str()
            .expect("an id")
            .to_owned(),
    )
}

/// Sends until the service is gone; gives message and number of all that was accepted.
fn load(address: &str, token: &str, next: &AtomicU64, count: &AtomicU64) -> Vec<(String, u64)> {
    let mut connection = connect(address);
    let mut accepted = Vec::new();
    loop {
        let number = SINGLES_FROM + next.fetch_add(1, Ordering::Relaxed);
        let Some(message) = send(&mut connection, token, &format!("\"{number}\"")) else {
            return accepted;
        };
        accepted.push((message, number));
        count.fetch_add(1, Ordering::Relaxed);
    }
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_mins(1);
    while !condition() {
        assert!(Instant::now() < end, "waited in vain until {what}");
        thread::park_timeout(Duration::from_millis(20));
    }
}

/// How often each number was submitted.
fn submits(smsc: &Smsc) -> HashMap<u64, usize> {
    let mut submits = HashMap::new();
    for received in smsc.received() {
        let number = received.submit.destination.digits.parse().expect("digits");
        *submits.entry(number).or_default() += 1;
    }
    submits
}

fn delivered(connection: &mut BufReader<TcpStream>, token: &str, message: &str) -> u64 {
    let line = format!("GET /api/v2/delivery-reports?message_id={message}&per_page=1");
    let answer = request(connection, token, &line, "").expect("an answer");
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    answer["data"]["summary"]["delivered"]
        .as_u64()
        .expect("a count")
}

/// What was accepted before the process died.
struct Accepted {
    campaign: String,
    singles: Vec<(String, u64)>,
}

/// Sends a campaign and single messages, and kills the process while both are on the wire.
fn kill_under_load(ogene: &Installation, smsc: &Smsc, customer: &Customer) -> Accepted {
    let (process, address) = serve(ogene);
    let numbers: Vec<String> = (0..CAMPAIGN)
        .map(|number| format!("\"{}\"", CAMPAIGN_FROM + number))
        .collect();
    let campaign = send(&mut connect(&address), &customer.token, &numbers.join(","));
    let (next, count) = (AtomicU64::new(0), AtomicU64::new(0));
    let singles = thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|_| scope.spawn(|| load(&address, &customer.token, &next, &count)))
            .collect();
        wait_until("the load is on", || {
            count.load(Ordering::Relaxed) > 400 && smsc.stats().submits > 400
        });
        process.signal("KILL");
        let accepted = senders
            .into_iter()
            .map(|sender| sender.join().expect("no panic"));
        accepted.flatten().collect()
    });
    Accepted {
        campaign: campaign.expect("accepted"),
        singles,
    }
}

fn wait_until_all_is_delivered(address: &str, customer: &Customer, accepted: &Accepted) {
    let mut connection = connect(address);
    wait_until("the campaign is delivered", || {
        delivered(&mut connection, &customer.token, &accepted.campaign) == CAMPAIGN
    });
    for (message, _) in &accepted.singles {
        wait_until("every accepted message is delivered", || {
            delivered(&mut connection, &customer.token, message) == 1
        });
    }
}

#[test]
fn a_killed_process_loses_nothing_and_charges_nothing_twice() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let script = Script {
        record: 200_000,
        response_delay: Delay {
            from: Duration::ZERO,
            to: Duration::from_millis(10),
        },
        receipt_delay: Delay {
            from: Duration::ZERO,
            to: Duration::from_millis(300),
        },
        ..Script::default()
    };
    let smsc = runtime.block_on(Smsc::start(script)).expect("started");
    // On PostgreSQL it is another node that finds what a dead one had claimed.
    let ogene = Installation::embedded();
    let customer = set_up(&ogene, &smsc);
    let accepted = kill_under_load(&ogene, &smsc, &customer);
    assert_eq!(ogene.json(&["verify"])["violations"], serde_json::json!([]));

    let (mut process, address) = serve(&ogene);
    wait_until_all_is_delivered(&address, &customer, &accepted);
    let submits = submits(&smsc);
    let singles = accepted.singles.iter().map(|(_, number)| *number);
    let mut expected = singles.chain((0..CAMPAIGN).map(|number| CAMPAIGN_FROM + number));
    assert!(expected.all(|number| submits.contains_key(&number)));
    let copies: usize = submits.values().map(|times| times - 1).sum();
    assert!(
        copies <= WINDOW * BINDS,
        "{copies} of {} sent twice",
        submits.len()
    );
    assert!(submits.values().all(|&times| times <= 2));

    // Whoever got no answer was charged if the message exists, and not if it does not.
    let balance = &ogene.json(&["account", "show", "--account", &customer.account])["balance"];
    let spent = 9_000_000.0 - balance["total_balance"].as_f64().expect("a number");
    let paid = f64::from(u32::try_from(submits.len()).expect("few")) * 6.0;
    assert!((spent - paid).abs() < 1e-6, "{spent} for {paid}");
    process.signal("TERM");
    assert!(process.end().0.success());
    assert_eq!(ogene.json(&["verify"])["violations"], serde_json::json!([]));
}
