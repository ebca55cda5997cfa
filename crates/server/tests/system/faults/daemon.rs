//! A service that may end at any moment.

use crate::customer::wait_until;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Timeouts of the start and of the end.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Time until the service logs that it was asked to end. The runtime passes a signal on by a
/// socket, so a signal is lost if no first call on it succeeds.
const HEARD_WITHIN: Duration = Duration::from_secs(5);

/// A service that runs or has ended. It is killed when it is dropped.
pub(crate) struct Daemon {
    child: Child,
    /// Its standard error, which is read at once, because a process with a full pipe blocks.
    said: Receiver<String>,
    log: String,
    /// The time at which it was asked to end.
    asked: Option<Instant>,
    /// Its address, if it has listened.
    pub(crate) address: Option<String>,
}

impl Daemon {
    /// Starts the service, and waits until it listens or has ended.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let (tell, said) = channel();
        thread::spawn(move || {
            let mut lines = lines.map_while(Result::ok);
            lines.try_for_each(|line| tell.send(line).map_err(drop))
        });
        let mut service = Self {
            child,
            said,
            log: String::new(),
            asked: None,
            address: None,
        };
        service.address = service.listens();
        service
    }

    fn listens(&mut self) -> Option<String> {
        let end = Instant::now() + TIMEOUT;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.said.recv_timeout(left) {
                Ok(line) => {
                    self.keep(&line);
                    if let Some((_, address)) = line.split_once("\"http.address\":\"http://") {
                        return address.split('"').next().map(str::to_owned);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => panic!("it did not begin in time: {}", self.log),
            }
        }
    }

    fn keep(&mut self, line: &str) {
        self.log.push_str(line);
        self.log.push('\n');
    }

    /// Returns its standard error so far.
    pub(crate) fn log(&mut self) -> &str {
        while let Ok(line) = self.said.try_recv() {
            self.keep(&line);
        }
        &self.log
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it is ours").is_some()
    }

    /// Detaches strace by ending it, so that further calls are not disturbed.
    pub(crate) fn set_free(&self) {
        let status = format!("/proc/{}/status", self.child.id());
        let tracer = || {
            let status = fs::read_to_string(&status).expect("it is there");
            let tracer = status
                .lines()
                .find_map(|line| line.strip_prefix("TracerPid:"));
            tracer.expect("a number").trim().to_owned()
        };
        let killed = Command::new("kill")
            .args(["-s", "KILL", &tracer()])
            .status();
        assert!(killed.expect("it is there").success());
        wait_until("nobody follows it", || tracer() == "0");
    }

    /// Asks the service to end.
    pub(crate) fn terminate(&mut self) {
        self.asked = Some(Instant::now());
        self.signal("TERM");
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let mut kill = Command::new("kill");
        // A process that has ended takes no signal, and it may end at any moment.
        let _ = kill.args(["-s", name, &pid]).stderr(Stdio::null()).status();
    }

    /// Waits for its end, and kills it after a time. Returns its status and standard error.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        let end = Instant::now() + TIMEOUT;
        while !self.has_ended() && Instant::now() < end {
            thread::park_timeout(Duration::from_millis(5));
            let is_late = self.asked.is_some_and(|at| at.elapsed() > HEARD_WITHIN);
            if is_late && !self.log().contains("Stopping") {
                self.terminate();
            }
        }
        assert!(self.has_ended(), "it did not end in time: {}", self.log());
        let status = self.child.wait().expect("it is ours");
        while let Ok(line) = self.said.recv_timeout(TIMEOUT) {
            self.keep(&line);
        }
        (status, std::mem::take(&mut self.log))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // The process has ended already if its end was waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("{}", self.log());
        }
    }
}
