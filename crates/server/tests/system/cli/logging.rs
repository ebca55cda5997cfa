//! The log of the service if its reader fails: the reader is closed or stopped, or the disk is
//! full.

use crate::installation::Installation;
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::thread::park_timeout;
use std::time::{Duration, Instant};

/// Timeout of a condition.
const LIMIT: Duration = Duration::from_mins(1);

/// A service whose standard error is in the hands of the test.
struct Serving {
    child: Child,
}

impl Serving {
    fn start(mut command: Command, out: impl Into<Stdio>, err: impl Into<Stdio>) -> Self {
        let child = command.stdout(out).stderr(err).spawn();
        Self {
            child: child.expect("it starts"),
        }
    }

    /// Starts the service with a pipe. Returns the address in its log, and the pipe.
    fn piped(command: Command) -> (Self, String, BufReader<ChildStderr>) {
        let mut service = Self::start(command, Stdio::null(), Stdio::piped());
        let mut log = BufReader::new(service.child.stderr.take().expect("piped"));
        let mut line = String::new();
        while !line.contains("http.address") {
            line.clear();
            assert!(log.read_line(&mut line).expect("text") > 0, "it ended");
        }
        let line: Value = serde_json::from_str(&line).expect("JSON");
        let address = line["http.address"].as_str().expect("an address");
        let address = address.strip_prefix("http://").expect("http").to_owned();
        (service, address, log)
    }

    /// Returns the address that it listens on, as the system knows it, because the log may be lost.
    fn address(&mut self) -> String {
        let end = Instant::now() + LIMIT;
        loop {
            if let Some(port) = listening(self.child.id()) {
                return format!("127.0.0.1:{port}");
            }
            assert_eq!(self.child.try_wait().expect("asked"), None, "it ended");
            assert!(Instant::now() < end, "it does not listen");
            park_timeout(Duration::from_millis(20));
        }
    }

    fn terminate(&mut self) -> ExitStatus {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", "TERM", &pid]).status();
        assert!(sent.expect("kill is there").success());
        self.child.wait().expect("it ends")
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // The process has ended already if the test waited for its end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The TCP port that a process listens on.
fn listening(pid: u32) -> Option<u16> {
    const LISTEN: &str = "0A";
    let sockets: Vec<String> = fs::read_dir(format!("/proc/{pid}/fd"))
        .ok()?
        .filter_map(|file| {
            let link = fs::read_link(file.ok()?.path()).ok()?;
            let inode = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
            Some(inode.to_owned())
        })
        .collect();
    let table = fs::read_to_string("/proc/net/tcp").ok()?;
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let is_ours = fields[3] == LISTEN && sockets.iter().any(|inode| inode == fields[9]);
        let (_, port) = fields[1].split_once(':')?;
        is_ours.then(|| u16::from_str_radix(port, 16).ok())?
    })
}

/// Requests a path. Returns the whole answer.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(LIMIT)).expect("set");
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    )
    .expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

fn assert_healthy(address: &str) {
    let answer = get(address, "/healthz");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

fn lost_lines(address: &str) -> u64 {
    let metrics = get(address, "/metrics");
    let line = metrics
        .lines()
        .find_map(|line| line.strip_prefix("ogene_log_lines_lost_total "));
    line.expect("it is counted")
        .trim()
        .parse()
        .expect("a count")
}

/// Waits until lines were lost and counted.
fn wait_for_lost(address: &str) {
    let end = Instant::now() + LIMIT;
    while lost_lines(address) == 0 {
        assert!(Instant::now() < end, "no line is lost");
        park_timeout(Duration::from_millis(20));
    }
}

#[test]
fn a_log_on_a_full_disk_ends_nothing_and_its_lines_are_counted() {
    let ogene = Installation::embedded();
    let full = OpenOptions::new().write(true).open("/dev/full");
    let mut service = Serving::start(
        ogene.command(&["serve"]),
        Stdio::null(),
        full.expect("/dev/full"),
    );
    let address = service.address();
    assert_healthy(&address);
    wait_for_lost(&address);
    assert_eq!(service.terminate().code(), Some(0));
}

#[test]
fn a_reader_of_the_log_that_goes_away_ends_nothing() {
    let ogene = Installation::embedded();
    let (mut service, address, log) = Serving::piped(ogene.command(&["serve"]));
    drop(log);
    assert!(get(&address, "/nowhere").starts_with("HTTP/1.1 404"));
    wait_for_lost(&address);
    assert_healthy(&address);
    assert_eq!(service.terminate().code(), Some(0));
}

#[test]
fn a_stalled_log_reader_delays_nothing_and_sees_the_loss() {
    let ogene = Installation::embedded();
    ogene.configure("[log]\nlevel = \"trace\"\n");
    let (mut service, address, mut log) = Serving::piped(ogene.command(&["serve"]));
    let end = Instant::now() + LIMIT;
    while lost_lines(&address) == 0 {
        // Fifty requests of one connection cause fifty lines. Some ten thousand fill the buffer.
        let mut stream = TcpStream::connect(&address).expect("it listens");
        stream.set_read_timeout(Some(LIMIT)).expect("set");
        let one = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
        let last = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        stream
            .write_all(one.repeat(49).as_bytes())
            .expect("written");
        stream.write_all(last.as_bytes()).expect("written");
        let mut answers = String::new();
        stream.read_to_string(&mut answers).expect("answers");
        assert_eq!(answers.matches("HTTP/1.1 200").count(), 50);
        assert!(Instant::now() < end, "the buffer has no bound");
    }
    assert_healthy(&address);
    // The reader reads again.
    let recorded = (&mut log).lines().map_while(Result::ok).find_map(|line| {
        let line: Value = serde_json::from_str(&line).expect("each line is whole");
        line["log.lost_lines"].as_u64()
    });
    assert!(recorded.is_some_and(|lost| lost > 0), "{recorded:?}");
    let reading = std::thread::spawn(move || log.read_to_string(&mut String::new()));
    assert_eq!(service.terminate().code(), Some(0));
    reading.join().expect("read").expect("text");
}

#[test]
fn the_end_does_not_wait_for_a_reader_of_the_log_that_stopped() {
    let ogene = Installation::embedded();
    ogene.configure("[log]\nlevel = \"trace\"\n");
    let (mut service, address, log) = Serving::piped(ogene.command(&["serve"]));
    // The text is longer than a pipe holds.
    for _ in 0..40 {
        assert_healthy(&address);
    }
    assert_eq!(service.terminate().code(), Some(0));
    drop(log);
}

#[test]
fn the_log_is_json_to_its_last_line_at_start_and_end() {
    let ogene = Installation::embedded();
    let (mut service, _, mut log) = Serving::piped(ogene.command(&["serve"]));
    assert_eq!(service.terminate().code(), Some(0));
    let mut text = String::new();
    log.read_to_string(&mut text).expect("text");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    assert_eq!(lines.last().expect("a line")["message"], "stopped");

    // A configuration with faults, and an address that is taken.
    fs::write(ogene.path().join("wrong.toml"), "[http]\nlisten = 1\n").expect("written");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("an address").to_string();
    let mut listening = ogene.command(&["serve"]);
    listening.env("OGENE_HTTP_LISTEN", &taken);
    let wrong = ogene.command(&["serve", "--config", "wrong.toml"]);
    for (mut command, code, says) in [(wrong, 2, "fault"), (listening, 1, "cannot listen")] {
        let output = command.output().expect("it runs");
        assert_eq!(output.status.code(), Some(code));
        let error = String::from_utf8(output.stderr).expect("text");
        let lines: Vec<Value> = error
            .lines()
            .map(|line| serde_json::from_str(line).expect(line))
            .collect();
        let last = lines.last().expect("a line");
        assert_eq!(last["level"], "ERROR");
        assert!(
            last["message"].as_str().expect("text").contains(says),
            "{last}"
        );
    }
}

#[test]
fn a_closed_or_full_output_ends_no_command_in_a_panic() {
    let ogene = Installation::embedded();
    ogene.json(&["migrate"]);
    let full = || {
        File::options()
            .write(true)
            .open("/dev/full")
            .expect("/dev/full")
    };
    // The reader is closed before the first line.
    let closed = || {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        writer
    };
    let list = ["account", "list"];
    let status = |command: &mut Command| command.status().expect("it runs").code();
    assert_eq!(status(ogene.command(&list).stdout(closed())), Some(0));
    assert_eq!(status(ogene.command(&list).stdout(full())), Some(1));
    let show = ["account", "show", "--account", "7"];
    assert_eq!(status(ogene.command(&show).stderr(closed())), Some(1));
    assert_eq!(status(ogene.command(&show).stderr(full())), Some(1));

    let simulator = ogene.command(&["smsc", "--listen", "127.0.0.1:0"]);
    let mut simulator = Serving::start(simulator, Stdio::null(), full());
    simulator.address();
    assert_eq!(simulator.terminate().code(), Some(0));

    let demo = ogene.command(&["demo", "--listen", "127.0.0.1:0"]);
    let mut demo = Serving::start(demo, closed(), full());
    demo.address();
    assert_eq!(demo.terminate().code(), Some(0));
}

#[test]
fn requests_of_strangers_are_logged_in_a_bounded_way() {
    let ogene = Installation::embedded();
    let log = File::create(ogene.path().join("log")).expect("a log");
    let mut service = Serving::start(ogene.command(&["serve"]), Stdio::null(), log);
    let address = service.address();
    // The requests are pipelined, without a token, and to unknown paths.
    for path in ["/api/v2/balance", "/api/v2/sms?to=1", "/nowhere"] {
        let mut stream = TcpStream::connect(&address).expect("it listens");
        stream.set_read_timeout(Some(LIMIT)).expect("set");
        let requests = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n").repeat(2_000);
        let last = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let mut writing = stream.try_clone().expect("a second handle");
        let writer = std::thread::spawn(move || {
            writing.write_all(requests.as_bytes())?;
            writing.write_all(last.as_bytes())
        });
        let mut answers = String::new();
        stream.read_to_string(&mut answers).expect("answers");
        writer.join().expect("no panic").expect("written");
        assert_eq!(answers.matches("HTTP/1.1 40").count(), 2_000, "{path}");
    }
    assert_eq!(service.terminate().code(), Some(0));
    let text = fs::read_to_string(ogene.path().join("log")).expect("a log");
    let lines = text.matches("request refused").count();
    assert!(
        (2..400).contains(&lines),
        "{lines} lines for 6,000 requests"
    );
}

#[test]
fn a_refused_request_is_logged_with_account_token_and_code() {
    let ogene = Installation::new();
    let account = ogene.json(&super::AN_ACCOUNT);
    let id = account["user_id"].as_str().expect("an id");
    let create = ["token", "create", "--account", id, "--name", "shop"];
    let open = ogene.json(&create);
    let elsewhere = ogene.json(&[&create[..], &["--allow", "203.0.113.7"]].concat());
    let (_service, address, mut log) = Serving::piped(ogene.command(&["serve"]));
    for (token, code) in [(&open, "API-2001"), (&elsewhere, "API-1007")] {
        let text = token["token"].as_str().expect("a token");
        let answer = get(&address, &format!("/api/v2/sms?api_token={text}"));
        assert!(answer.contains(code), "{answer}");
        let line = (&mut log).lines().map_while(Result::ok);
        let line = line
            .into_iter()
            .find(|line| line.contains("request refused"));
        let line: Value = serde_json::from_str(&line.expect("it is logged")).expect("JSON");
        assert_eq!(line["account.id"].to_string(), id);
        assert_eq!(line["token.id"], token["token_id"]);
        assert_eq!(line["code"], code);
        assert!(!line.to_string().contains(text));
    }
}

#[test]
fn the_pause_before_a_further_bind_is_logged_as_a_number() {
    let ogene = Installation::embedded();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let closed = closed.local_addr().expect("an address");
    let carrier = format!(
        "[carriers.mtn]\naddress = \"{closed}\"\nsystem_id = \"o\"\npassword = \"p\"\n\
         [gateways.otp]\ncarriers = [\"mtn\"]\n"
    );
    ogene.configure(&carrier);
    let (_service, _, log) = Serving::piped(ogene.command(&["serve"]));
    let lines = log.lines().map_while(Result::ok);
    let line = lines.into_iter().find(|line| line.contains("retry_ms"));
    let line: Value = serde_json::from_str(&line.expect("it is logged")).expect("JSON");
    assert!(line["retry_ms"].is_u64(), "{line}");
}

#[test]
fn metrics_can_be_moved_to_another_address_or_closed() {
    let ogene = Installation::embedded();
    ogene.configure("metrics_listen = \"127.0.0.1:0\"\n");
    let mut command = ogene.command(&["serve"]);
    command.env("OGENE_LOG_LEVEL", "info");
    let mut service = Serving::start(command, Stdio::null(), Stdio::piped());
    let mut log = BufReader::new(service.child.stderr.take().expect("piped"));
    let mut address_of = |key: &str| {
        let line = (&mut log).lines().map_while(Result::ok);
        let line = line.into_iter().find(|line| line.contains(key));
        let line: Value = serde_json::from_str(&line.expect("it serves")).expect("JSON");
        line[key]
            .as_str()
            .expect("an address")
            .replace("http://", "")
    };
    let (metrics, api) = (address_of("metrics.address"), address_of("http.address"));
    assert!(get(&metrics, "/metrics").contains("process_open_fds"));
    assert!(get(&metrics, "/docs").starts_with("HTTP/1.1 404"));
    assert!(get(&api, "/metrics").starts_with("HTTP/1.1 404"));
    assert_healthy(&api);
    assert_eq!(service.terminate().code(), Some(0));

    ogene.configure("metrics_listen = \"off\"\n");
    let (_service, api, _log) = Serving::piped(ogene.command(&["serve"]));
    assert!(get(&api, "/metrics").starts_with("HTTP/1.1 404"));
}

#[test]
fn a_readable_configuration_with_passwords_is_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    let ogene = Installation::embedded();
    ogene.configure(
        "[carriers.mtn]\naddress = \"127.0.0.1:9\"\nsystem_id = \"o\"\npassword = \"p\"\n\
         [gateways.otp]\ncarriers = [\"mtn\"]\n",
    );
    let file = ogene.path().join("ogene.toml");
    for (mode, count) in [(0o644, 1), (0o640, 0)] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("set");
        let notes = ogene.json(&["config", "check"])["notes"].to_string();
        assert_eq!(notes.matches("chmod o=").count(), count, "{notes}");
    }
}
