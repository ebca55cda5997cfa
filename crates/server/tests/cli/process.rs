//! A command that runs until it is told to stop.

use std::io::{BufRead, BufReader, Lines, Read};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};

/// A running `ogene`, killed when the test ends without it having ended.
pub(super) struct Process {
    child: Child,
    out: BufReader<ChildStdout>,
    err: Lines<BufReader<ChildStderr>>,
}

impl Process {
    /// Starts it, with its output for the test to read.
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
            err: BufReader::new(err).lines(),
        }
    }

    /// Waits for a line on standard error that holds `text`.
    pub(super) fn line_with(&mut self, text: &str) -> String {
        let lines = self.err.by_ref().map_while(Result::ok);
        lines
            .into_iter()
            .find(|line| line.contains(text))
            .unwrap_or_else(|| panic!("it ended without {text:?}"))
    }

    /// Reads standard output up to and with a line that is exactly `last`.
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

    /// Waits for the end; gives the status and what was left to read on standard output.
    pub(super) fn end(&mut self) -> (ExitStatus, String) {
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).expect("text");
        (self.child.wait().expect("it ends"), rest)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It is gone already where the test waited for its end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
