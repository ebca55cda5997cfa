//! The log: JSON or text on standard error, as the configuration sets it.
//!
//! A thread of its own writes it ([`buffer`]). A line that cannot be written ends nothing, and a
//! reader that stops reading delays nothing.

mod buffer;
mod limit;

pub(crate) use limit::{LineFate, LineLimit};

use crate::config::log::{Log, LogFormat};
use buffer::LineBuffer;
use serde_json::json;
use std::any::Any;
use std::io::{self, IsTerminal, Write, stderr};
use std::panic::{PanicHookInfo, set_hook};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, fmt, registry};

/// The time that the end of the process waits for the last lines.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// The lines of this process that wait to be written.
static BUFFER: LineBuffer = LineBuffer::new();

/// The form of the lines, once logging has started.
static FORM: OnceLock<Form> = OnceLock::new();

/// The form of the lines.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Form {
    /// One JSON object a line.
    Json,
    /// For people.
    Text,
}

impl Form {
    /// Returns the form for a format on this standard error.
    pub(crate) fn of(format: LogFormat) -> Self {
        match format {
            LogFormat::Text => Self::Text,
            LogFormat::Auto if stderr().is_terminal() => Self::Text,
            LogFormat::Json | LogFormat::Auto => Self::Json,
        }
    }
}

/// Returns the filter of a level. The libraries of the database log each failure that they return,
/// at every retry. They are silenced, because the caller logs the same failures. A level that names
/// these libraries overrides this.
fn filter(level: &str) -> String {
    if level.contains(DATABASE_LIBRARIES) {
        level.to_owned()
    } else {
        format!("{level},{DATABASE_LIBRARIES}=off")
    }
}

/// The common prefix of the names of these libraries.
const DATABASE_LIBRARIES: &str = "sqlx";

/// Starts logging for the rest of the process; a second call changes nothing.
pub(crate) fn start(log: &Log) {
    // The configuration has checked the level already.
    let filter = EnvFilter::try_new(filter(&log.level)).unwrap_or_default();
    let form = *FORM.get_or_init(|| Form::of(log.format));
    let limited = registry().with(filter).with(limit::Limited::new(left_out));
    // The writer counts lost lines. The library would print its errors to standard error, and end
    // the process if that fails.
    let layer = fmt::layer().log_internal_errors(false).with_writer(|| Line);
    let started = match form {
        Form::Json => limited.with(layer.json().flatten_event(true)).try_init(),
        Form::Text => limited
            .with(layer.with_ansi(stderr().is_terminal()))
            .try_init(),
    };
    if started.is_ok() {
        set_hook(Box::new(record_panic));
    } else {
        tracing::debug!("logging: started before");
    }
}

/// Returns the form of the lines, if logging has started.
pub(crate) fn form() -> Option<Form> {
    FORM.get().copied()
}

/// Returns the number of lines lost since the process started.
pub(crate) fn lost_lines() -> u64 {
    BUFFER.lost()
}

/// Writes a line as it is, in order with those of the log. No caller waits for it.
pub(crate) fn print(line: &str) {
    push(format!("{line}\n").as_bytes());
}

/// Writes an error in the form of the log, whatever the level, with optional fields.
pub(crate) fn error(form: Form, message: &str, fields: &[(&str, serde_json::Value)]) {
    print(&formatted(form, "ERROR", message, fields));
}

/// Records that lines of a kind were left out.
fn left_out(lines: u64, target: &str) {
    let message =
        format!("the log left out {lines} lines like the next, above its limit for a minute");
    let form = form().unwrap_or(Form::Text);
    let fields = [
        ("log.left_out_lines", lines.into()),
        ("log.left_out_target", target.into()),
    ];
    print(&formatted(form, "WARN", &message, &fields));
}

/// Waits until the log is written, for at most `FLUSH_TIMEOUT`.
pub(crate) fn flush() {
    BUFFER.flush(FLUSH_TIMEOUT);
}

/// The writer of one line of the log.
struct Line;

impl Write for Line {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        push(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Passes a line to the thread that writes. The first line starts the thread.
fn push(line: &[u8]) {
    static STARTED: OnceLock<bool> = OnceLock::new();
    let is_started = STARTED.get_or_init(|| {
        let writing = thread::Builder::new().name("log".to_owned());
        writing
            .spawn(|| {
                BUFFER.write_to(&mut stderr(), |lost| {
                    let message = format!("the log lost {lost} lines that could not be written");
                    let form = form().unwrap_or(Form::Text);
                    formatted(form, "ERROR", &message, &[("log.lost_lines", lost.into())])
                });
            })
            .is_ok()
    });
    if *is_started {
        BUFFER.push(line);
    } else {
        // The system has no room for a thread, so the line is written here.
        let _ = stderr().write_all(line);
    }
}

/// Returns a line in the form of the library.
fn formatted(
    form: Form,
    level: &str,
    message: &str,
    fields: &[(&str, serde_json::Value)],
) -> String {
    let mut time = String::new();
    // Writing to a text does not fail.
    let _ = SystemTime.format_time(&mut Writer::new(&mut time));
    let target = "ogene";
    match form {
        Form::Json => {
            let mut line =
                json!({ "timestamp": time, "level": level, "message": message, "target": target });
            for (name, value) in fields {
                line[name] = value.clone();
            }
            line.to_string()
        }
        Form::Text => {
            let mut line = format!("{time} {level:>5} {target}: {message}");
            for (name, value) in fields {
                // Writing to a text does not fail.
                let _ = std::fmt::Write::write_fmt(&mut line, format_args!(" {name}={value}"));
            }
            line
        }
    }
}

/// Records a panic in the log. The usual hook would block on a reader that does not read.
fn record_panic(info: &PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string);
    let message = format!(
        "panic: {} at {}",
        reason(info.payload()),
        place.as_deref().unwrap_or("an unknown place")
    );
    error(form().unwrap_or(Form::Text), &message, &[]);
    flush();
}

fn reason(payload: &dyn Any) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no reason was given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_start_and_end_has_the_form_of_the_log() {
        let faults = [("faults", json!(["ogene.toml:1: a: \"b\""]))];
        let line = formatted(Form::Json, "ERROR", "two\nlines", &faults);
        let line: serde_json::Value = serde_json::from_str(&line).expect("one JSON value");
        assert_eq!(line["level"], "ERROR");
        assert_eq!(line["message"], "two\nlines");
        assert_eq!(line["faults"][0], "ogene.toml:1: a: \"b\"");
        let text = formatted(Form::Text, "ERROR", "no", &[("n", 7.into())]);
        assert!(text.ends_with(" ERROR ogene: no n=7"), "{text}");
    }

    #[test]
    fn the_database_libraries_log_only_where_the_level_names_them() {
        for (level, expected) in [
            ("info", "info,sqlx=off"),
            ("warn,engine=debug", "warn,engine=debug,sqlx=off"),
            ("info,sqlx_core=debug", "info,sqlx_core=debug"),
        ] {
            assert_eq!(filter(level), expected);
            assert!(EnvFilter::try_new(filter(level)).is_ok(), "{level}");
        }
    }
}
