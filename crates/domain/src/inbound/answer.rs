//! The answers of an account to the commands of subscribers.

use super::command::Command;
use crate::refusal::Refusal;

/// Maximum length of an answer in characters: three pages.
pub const MAX_ANSWER_CHARACTERS: usize = 459;

/// The texts that answer commands. An empty text is no answer.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AnswerTexts {
    /// The answer to an opt-out.
    pub stop: String,
    /// The answer to an opt-in.
    pub start: String,
    /// The answer to a question for help.
    pub help: String,
}

/// A change of the texts. A text that is not given stays.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AnswerChange {
    /// The answer to an opt-out.
    pub stop: Option<String>,
    /// The answer to an opt-in.
    pub start: Option<String>,
    /// The answer to a question for help.
    pub help: Option<String>,
}

impl AnswerTexts {
    /// Returns the answer to a command, if there is one.
    pub fn to(&self, command: Command) -> Option<&str> {
        let text = match command {
            Command::Stop => &self.stop,
            Command::Start => &self.start,
            Command::Help => &self.help,
        };
        Some(&**text).filter(|text| !text.is_empty())
    }

    /// Returns the texts after a change.
    #[must_use]
    pub fn with(self, change: &AnswerChange) -> Self {
        let after = |before, text: &Option<String>| text.clone().unwrap_or(before);
        Self {
            stop: after(self.stop, &change.stop),
            start: after(self.start, &change.start),
            help: after(self.help, &change.help),
        }
    }
}

impl AnswerChange {
    /// Checks the texts of a request. A blank text becomes empty.
    pub fn read(self) -> Result<Self, Refusal> {
        if self == Self::default() {
            let fault =
                "Give at least one of `stop`, `start` and `help`. An empty text is no answer.";
            return Err(Refusal::Malformed(fault.to_owned()));
        }
        Ok(Self {
            stop: read("stop", self.stop)?,
            start: read("start", self.start)?,
            help: read("help", self.help)?,
        })
    }
}

fn read(field: &str, text: Option<String>) -> Result<Option<String>, Refusal> {
    let Some(text) = text else {
        return Ok(None);
    };
    let text = text.trim();
    let is_control = |letter: char| letter.is_control() && letter != '\n';
    if text.chars().count() > MAX_ANSWER_CHARACTERS || text.contains(is_control) {
        return Err(Refusal::Malformed(format!(
            "`{field}` must have at most {MAX_ANSWER_CHARACTERS} characters, and no control characters but line feeds."
        )));
    }
    Ok(Some(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(stop: Option<&str>, help: Option<&str>) -> AnswerChange {
        AnswerChange {
            stop: stop.map(str::to_owned),
            start: None,
            help: help.map(str::to_owned),
        }
    }

    #[test]
    fn a_change_keeps_the_texts_that_it_does_not_name() {
        let texts = AnswerTexts::default();
        assert_eq!(texts.to(Command::Stop), None);
        let first = change(Some(" You are out. "), Some("Call us.\nBye"));
        let texts = texts.with(&first.read().unwrap());
        assert_eq!(texts.to(Command::Stop), Some("You are out."));
        let texts = texts.with(&change(None, Some(" ")).read().unwrap());
        assert_eq!(texts.to(Command::Stop), Some("You are out."));
        assert_eq!(
            (texts.to(Command::Help), texts.to(Command::Start)),
            (None, None)
        );
    }

    #[test]
    fn a_wrong_text_is_named() {
        let long = "x".repeat(MAX_ANSWER_CHARACTERS + 1);
        for (change, named) in [
            (AnswerChange::default(), "at least one"),
            (change(Some(&long), None), "`stop`"),
            (change(None, Some("a\u{7}")), "`help`"),
        ] {
            let refusal = change.read().unwrap_err().to_string();
            assert!(refusal.contains(named), "{refusal}");
        }
        assert!(change(Some(&long[1..]), None).read().is_ok());
    }
}
