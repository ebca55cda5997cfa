//! `[log]`: the form and the level of the log.

use super::section::Section;
use tracing_subscriber::EnvFilter;

/// `[log]`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Log {
    /// The form of the lines.
    pub format: LogFormat,
    /// The level, in the language of `tracing_subscriber`'s `EnvFilter`.
    pub level: String,
}

/// The form of the lines of the log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// One JSON object a line.
    Json,
    /// For people.
    Text,
}

impl Log {
    pub(super) fn read(mut section: Section<'_>) -> Self {
        const FORMATS: [(&str, LogFormat); 3] = [
            ("auto", LogFormat::Auto),
            ("json", LogFormat::Json),
            ("text", LogFormat::Text),
        ];
        let place = section.place_of("level");
        let log = Self {
            format: section
                .one_of("format", &FORMATS)
                .unwrap_or(LogFormat::Auto),
            level: section.require("level").unwrap_or_default(),
        };
        if let Err(error) = EnvFilter::try_new(&log.level) {
            section.fault_at(
                &place,
                "level",
                format!("{:?} is not a log level: {error}", log.level),
            );
        }
        section.finish();
        log
    }
}
