//! A command that runs until it is stopped.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Timeout of a line.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Maximum number of warnings in a failure, so that they do not hide it.
const MAX_WARNINGS: usize = 8;

/// A running `ogene`, which is killed when it is dropped.
pub(super) struct Process {
    child: Child,
    out: BufReader<ChildStdout>,
    /// Its standard error, which is read at once, because a process with a full pipe blocks.
    err: Receiver<String>,
}

impl Process {
    /// Starts a command. The test reads its output.
    pub(super) fn start(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let out = child.stdout.take().expect("piped");
        let err = child.stderr.take().expect("piped");
        Self {
            child,
            out: BufReader::new(out),
            err: lines(err),
        }
    }

    /// Starts a service. Returns also its address.
    pub(super) fn serve(command: Command) -> (Self, String) {
        let mut process = Self::start(command);
        let line = process.line_with("http.address");
        let address = line.split("http://").nth(1).expect("an address");
        let end = address.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ':'));
        let address = address[..end.unwrap_or(address.len())].to_owned();
        (process, address)
    }

    /// Waits for a line on standard error with `text`.
    pub(super) fn line_with(&mut self, text: &str) -> String {
        self.lines_until(text).pop().unwrap_or_default()
    }

    /// Reads standard error up to a line with `text`.
    pub(super) fn lines_until(&mut self, text: &str) -> Vec<String> {
        let end = Instant::now() + TIMEOUT;
        let mut read = Vec::new();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.err.recv_timeout(left) {
                Ok(line) => {
                    let is_last = line.contains(text);
                    read.push(line);
                    if is_last {
                        return read;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => panic!("it ended without {text:?}"),
                Err(RecvTimeoutError::Timeout) => panic!("it did not say {text:?} in time"),
            }
        }
    }

    /// Returns its process id.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Reads standard output up to a line that equals `last`.
    pub(super) fn output_until(&mut self, last: &str) -> String {
        let mut output = String::new();
        loop {
            let start = output.len();
            let read = self.out.read_line(&mut output).expect("text");
            assert!(read > 0, "it ended without {last:?}: {output}");
            if output[start..].trim_end() == last {
                return output;
            }
        }
    }

    /// Sends a signal by name.
    pub(super) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(sent.expect("kill is there").success());
    }

    /// Waits for its end. Returns the status and the rest of standard output.
    pub(super) fn end(&mut self) -> (ExitStatus, String) {
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).expect("text");
        (self.child.wait().expect("it ends"), rest)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process has ended already if the test waited for its end.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            let warnings = self.err.iter().filter(|line| !line.contains("INFO"));
            let warnings: Vec<String> = warnings.collect();
            let told = warnings.len().min(MAX_WARNINGS);
            let id = self.child.id();
            eprintln!("{id}: the last {told} of {} warnings", warnings.len());
            for line in &warnings[warnings.len() - told..] {
                eprintln!("{id} {line}");
            }
        }
    }
}

fn lines(err: ChildStderr) -> Receiver<String> {
    let (tell, told) = channel();
    thread::spawn(move || {
        let lines = BufReader::new(err).lines().map_while(Result::ok);
        lines
            .into_iter()
            .try_for_each(|line| tell.send(line).map_err(drop))
    });
    told
}
