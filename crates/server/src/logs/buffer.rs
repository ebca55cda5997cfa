//! The bounded buffer between the threads that log and the thread that writes. A line is lost and
//! counted if the buffer is full or the write fails. The count is written as soon as lines can be
//! written again.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::io::{self, Write};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::park_timeout;
use std::time::{Duration, Instant};

/// Maximum octets of waiting lines. The thread may be writing as many again.
const MAX_BUFFERED_BYTES: usize = 1 << 20;
/// Capacity that is kept while the buffer is empty, octets.
const KEPT_BYTES: usize = 64 << 10;
/// The interval of retries while standard error would block. Another process may have made it
/// non-blocking.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// Lines from all threads for the one thread that writes.
pub(super) struct LineBuffer {
    state: Mutex<State>,
    /// Notified when a line arrives.
    filled: Condvar,
    /// Notified when everything is written.
    emptied: Condvar,
    /// Lines lost since the process started.
    lost: AtomicU64,
}

struct State {
    pending: Vec<u8>,
    is_writing: bool,
    /// Lost lines that the log has not recorded yet.
    unrecorded: u64,
}

impl LineBuffer {
    pub(super) const fn new() -> Self {
        Self {
            state: Mutex::new(State {
                pending: Vec::new(),
                is_writing: false,
                unrecorded: 0,
            }),
            filled: Condvar::new(),
            emptied: Condvar::new(),
            lost: AtomicU64::new(0),
        }
    }

    /// Appends a line with its line end. Drops it if there is no room.
    pub(super) fn push(&self, line: &[u8]) {
        let mut state = self.lock();
        if state.pending.len() + line.len() > MAX_BUFFERED_BYTES {
            self.lose(&mut state, 1);
            return;
        }
        state.pending.extend_from_slice(line);
        let is_waiting = !state.is_writing;
        drop(state);
        if is_waiting {
            self.filled.notify_one();
        }
    }

    /// Returns the lines lost since the process started.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Waits until every line is written or lost, for at most `limit`.
    pub(super) fn flush(&self, limit: Duration) {
        let end = Instant::now() + limit;
        let mut state = self.lock();
        while state.is_writing || !state.pending.is_empty() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.emptied.wait_for(&mut state, left);
        }
    }

    /// Writes lines for ever. `record` returns the line with the number of lost lines.
    pub(super) fn write_to(&self, to: &mut impl Write, record: impl Fn(u64) -> String) {
        let mut sink = Sink { to, is_torn: false };
        let mut lines = Vec::new();
        loop {
            self.wait_for(&mut lines);
            self.write_lines(&lines, &mut sink, &record);
            lines.clear();
            lines.shrink_to(KEPT_BYTES);
        }
    }

    /// Waits for lines and takes them all.
    fn wait_for(&self, lines: &mut Vec<u8>) {
        let mut state = self.lock();
        if state.pending.is_empty() {
            state.is_writing = false;
            self.emptied.notify_all();
        }
        while state.pending.is_empty() {
            self.filled.wait(&mut state);
        }
        state.is_writing = true;
        mem::swap(&mut state.pending, lines);
    }

    fn write_lines(
        &self,
        lines: &[u8],
        sink: &mut Sink<'_, impl Write>,
        record: impl Fn(u64) -> String,
    ) {
        let mut is_flowing = false;
        for line in lines.split_inclusive(|octet| *octet == b'\n') {
            is_flowing = sink.write(line).is_ok();
            if !is_flowing {
                self.lose(&mut self.lock(), 1);
            }
        }
        // The lines that found the buffer full came after these.
        let lost = self.lock().unrecorded;
        if is_flowing && lost > 0 && sink.write(format!("{}\n", record(lost)).as_bytes()).is_ok() {
            self.lock().unrecorded -= lost;
        }
    }

    fn lose(&self, state: &mut State, lines: u64) {
        state.unrecorded += lines;
        self.lost.fetch_add(lines, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// Writes whole lines. After an incomplete line the next one begins on a new line.
struct Sink<'a, W> {
    to: &'a mut W,
    is_torn: bool,
}

impl<W: Write> Sink<'_, W> {
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        if self.is_torn {
            self.write_all(b"\n")?;
            self.is_torn = false;
        }
        self.write_all(line)
    }

    fn write_all(&mut self, mut octets: &[u8]) -> io::Result<()> {
        let length = octets.len();
        while !octets.is_empty() {
            match self.to.write(octets) {
                Ok(written) if written > 0 => octets = octets.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    park_timeout(RETRY_INTERVAL);
                }
                failed => {
                    self.is_torn |= octets.len() < length;
                    return failed.and(Err(io::ErrorKind::WriteZero.into()));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread;

    /// A sink with a scripted result for each write. Without one it waits.
    struct Scripted {
        steps: Receiver<io::Result<usize>>,
        written: Sender<String>,
    }

    impl Write for Scripted {
        fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
            let Ok(step) = self.steps.recv() else {
                // The test is over.
                loop {
                    thread::park();
                }
            };
            let taken = step?.min(octets.len());
            let text = String::from_utf8_lossy(&octets[..taken]).into_owned();
            let _ = self.written.send(text);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    type Script = (Sender<io::Result<usize>>, Receiver<String>);

    fn start(buffer: &'static LineBuffer) -> Script {
        let (step, steps) = channel();
        let (notify, written) = channel();
        thread::spawn(move || {
            let mut sink = Scripted {
                steps,
                written: notify,
            };
            buffer.write_to(&mut sink, |lost| format!("lost {lost}"));
        });
        (step, written)
    }

    fn full() -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    #[test]
    fn a_line_that_cannot_be_written_is_lost_and_recorded_later() {
        static BUFFER: LineBuffer = LineBuffer::new();
        let (step, written) = start(&BUFFER);
        for line in ["first\n", "second\n"] {
            BUFFER.push(line.as_bytes());
        }
        step.send(full()).unwrap();
        // The sink accepts half of the second line, and then has no room.
        step.send(Ok(3)).unwrap();
        step.send(full()).unwrap();
        BUFFER.flush(Duration::from_mins(1));
        assert_eq!(BUFFER.lost(), 2);
        (0..4).for_each(|_| step.send(Ok(100)).unwrap());
        BUFFER.push(b"third\n");
        BUFFER.flush(Duration::from_mins(1));
        let lines: String = written.try_iter().collect();
        assert_eq!(lines, "sec\nthird\nlost 2\n");
        assert_eq!(BUFFER.lost(), 2);
    }

    #[test]
    fn a_sink_that_stands_still_delays_nobody_who_logs() {
        static BUFFER: LineBuffer = LineBuffer::new();
        let (step, written) = start(&BUFFER);
        let line = [b"x".repeat(99), b"\n".to_vec()].concat();
        let pushed = 3 * MAX_BUFFERED_BYTES / line.len();
        let begun = Instant::now();
        (0..pushed).for_each(|_| BUFFER.push(&line));
        BUFFER.flush(Duration::from_millis(1));
        assert!(begun.elapsed() < Duration::from_secs(30));
        let lost = BUFFER.lost();
        assert!(lost > 0, "the buffer has a bound");
        assert!(BUFFER.lock().pending.len() <= MAX_BUFFERED_BYTES);
        (0..=pushed).for_each(|_| step.send(Ok(1_000)).unwrap());
        BUFFER.flush(Duration::from_mins(1));
        let mut lines: VecDeque<String> = written.try_iter().collect();
        let kept = pushed - usize::try_from(lost).unwrap();
        assert_eq!(lines.len(), kept + 1);
        assert!(lines.contains(&format!("lost {lost}\n")));
        assert_eq!(lines.pop_front().unwrap().as_bytes(), line);
    }

    #[test]
    fn a_full_pipe_that_does_not_block_is_tried_again() {
        static BUFFER: LineBuffer = LineBuffer::new();
        let (step, written) = start(&BUFFER);
        BUFFER.push(b"line\n");
        step.send(Err(io::ErrorKind::WouldBlock.into())).unwrap();
        step.send(Ok(100)).unwrap();
        BUFFER.flush(Duration::from_mins(1));
        assert_eq!(
            (written.recv().unwrap().as_str(), BUFFER.lost()),
            ("line\n", 0)
        );
    }
}
