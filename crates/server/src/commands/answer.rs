//! The output of a command: text for people, or one JSON value for machines.

use crate::config::ConfigFault;
use crate::logs;
use serde::Serialize;
use std::io::{self, Write};
use std::process::ExitCode;

/// The output of a command that succeeded.
pub(super) struct Answer {
    /// The text for people, without a line end.
    text: String,
    /// The JSON for machines.
    json: String,
    /// The exit code.
    pub(super) exit: ExitCode,
}

impl Answer {
    /// Makes an answer in both forms.
    pub(super) fn new(text: impl Into<String>, json: &impl Serialize) -> Result<Self, Failure> {
        Ok(Self {
            text: text.into(),
            json: serde_json::to_string_pretty(json)
                .map_err(|error| Failure::new(error.to_string()))?,
            exit: ExitCode::SUCCESS,
        })
    }

    /// Changes the exit code to that of a failed command, for questions that scripts ask.
    pub(super) fn failing(self) -> Self {
        Self {
            exit: ExitCode::from(FAILED),
            ..self
        }
    }

    /// Makes an answer for machines only.
    pub(super) fn for_machines(json: &impl Serialize) -> Result<Self, Failure> {
        Self::new("", json)
    }

    /// Makes an empty answer.
    pub(super) fn none() -> Self {
        Self {
            text: String::new(),
            json: String::new(),
            exit: ExitCode::SUCCESS,
        }
    }

    /// Writes the answer in the requested form.
    pub(super) fn write(&self, json: bool, to: &mut impl Write) -> io::Result<()> {
        if self.json.is_empty() || (self.text.is_empty() && !json) {
            return Ok(());
        }
        writeln!(
            to,
            "{}",
            if json {
                &self.json
            } else {
                self.text.trim_end()
            }
        )
    }
}

/// The reason why a command failed.
#[derive(Debug)]
pub(super) struct Failure {
    message: String,
    faults: Vec<ConfigFault>,
    exit: u8,
}

/// Exit code of a command that failed.
const FAILED: u8 = 1;
/// Exit code of a wrong command line or configuration.
const WRONG: u8 = 2;

impl Failure {
    /// Makes a failure that happened while the command ran.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            faults: Vec::new(),
            exit: FAILED,
        }
    }

    /// Makes the failure of a wrong command line or argument.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            faults: Vec::new(),
            exit: WRONG,
        }
    }

    /// Makes the failure of a configuration with these faults.
    pub(super) fn configuration(faults: Vec<ConfigFault>) -> Self {
        let message = match faults.len() {
            1 => "The configuration has a fault.".to_owned(),
            count => format!("The configuration has {count} faults."),
        };
        Self {
            message,
            faults,
            exit: WRONG,
        }
    }

    /// Writes the failure in the requested form, and returns the exit code.
    pub(super) fn write(&self, json: bool, to: &mut impl Write) -> ExitCode {
        // A failure is lost if standard error is closed.
        let _ = writeln!(to, "{}", self.written(json));
        ExitCode::from(self.exit)
    }

    /// Writes the failure as the last line of a log, and returns the exit code. It does not wait
    /// long for the reader of the log.
    pub(super) fn log(&self, form: logs::Form, json: bool) -> ExitCode {
        if json || form == logs::Form::Text {
            logs::print(&self.written(json));
        } else {
            let faults: Vec<_> = self.faults.iter().map(ToString::to_string).collect();
            let faults = (!faults.is_empty()).then(|| ("faults", faults.into()));
            logs::error(form, &self.message, faults.as_slice());
        }
        logs::flush();
        ExitCode::from(self.exit)
    }

    fn written(&self, json: bool) -> String {
        if json {
            let faults: Vec<_> = self.faults.iter().map(FaultJson::from).collect();
            let error =
                serde_json::json!({ "error": { "message": self.message, "faults": faults } });
            error.to_string()
        } else {
            let mut lines = vec![format!("error: {}", self.message)];
            lines.extend(self.faults.iter().map(|fault| format!("  {fault}")));
            lines.join("\n")
        }
    }
}

/// Every failure below a command becomes one sentence for the operator.
impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}

#[derive(Serialize)]
struct FaultJson<'a> {
    place: String,
    key: &'a str,
    message: &'a str,
}

impl<'a> From<&'a ConfigFault> for FaultJson<'a> {
    fn from(fault: &'a ConfigFault) -> Self {
        Self {
            place: fault.place.to_string(),
            key: &fault.key,
            message: &fault.text,
        }
    }
}

/// Returns columns side by side under their names. The last column is not padded.
pub(super) fn table<const N: usize>(names: [&str; N], rows: &[[String; N]]) -> String {
    let names = names.map(str::to_owned);
    let all = || std::iter::once(&names).chain(rows);
    let widths: [usize; N] = std::array::from_fn(|column| {
        let width = |row: &[String; N]| row[column].chars().count();
        all().map(width).max().unwrap_or(0)
    });
    let line = |row: &[String; N]| {
        let cells: Vec<_> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    all().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns names and values, one pair a line.
pub(super) fn pairs(pairs: &[(&str, String)]) -> String {
    let width = pairs.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line =
        |(name, value): &(&str, String)| format!("{name:<width$}  {value}").trim_end().to_owned();
    pairs.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Naira, lagos_time};
    use domain::Money;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned);
        let text = table(["ID", "NAME"], &[row(["12345", "Ọláyẹmí"]), row(["1", ""])]);
        insta::assert_snapshot!(text, @r"
    ID     NAME
    12345  Ọláyẹmí
    1
    ");
    }

    #[test]
    fn amounts_are_json_numbers_and_times_are_those_of_lagos() {
        #[derive(Serialize)]
        struct Example {
            balance: Naira,
        }
        let answer = Answer::new(
            "",
            &Example {
                balance: Naira(Money::from_units(12_345_600)),
            },
        );
        let answer = answer.expect("it is JSON");
        assert_eq!(answer.json, "{\n  \"balance\": 1234.56\n}");
        assert_eq!(lagos_time(1_795_219_200_000), "2026-11-21 01:00:00");
    }

    #[test]
    fn a_failure_names_every_fault_and_exits_with_2() {
        let faults = crate::config::Config::read("a = 1\n[http]\nlisten = 1", "ogene.toml", []);
        let failure = Failure::configuration(faults.expect_err("two faults"));
        let (mut text, mut json) = (Vec::new(), Vec::new());
        assert_eq!(failure.write(false, &mut text), ExitCode::from(2));
        assert_eq!(failure.write(true, &mut json), ExitCode::from(2));
        insta::assert_snapshot!(String::from_utf8_lossy(&text), @r"
    error: The configuration has 2 faults.
      ogene.toml:1: a: unknown key; known are networks, http, carriers, gateways, database_url, database_url_file, database_connections, content, callbacks, sandbox, retention, velocity, mail, payments, data_dir, smpp_server, limits, inbound, console, log
      ogene.toml:3: http.listen: must be a text in quotes, not a number
    ");
        insta::assert_snapshot!(testkit::indented(String::from_utf8_lossy(&json).trim_end()), @r#"
        {
          "error": {
            "faults": [
              {
                "key": "a",
                "message": "unknown key; known are networks, http, carriers, gateways, database_url, database_url_file, database_connections, content, callbacks, sandbox, retention, velocity, mail, payments, data_dir, smpp_server, limits, inbound, console, log",
                "place": "ogene.toml:1"
              },
              {
                "key": "http.listen",
                "message": "must be a text in quotes, not a number",
                "place": "ogene.toml:3"
              }
            ],
            "message": "The configuration has 2 faults."
          }
        }
        "#);
    }
}
