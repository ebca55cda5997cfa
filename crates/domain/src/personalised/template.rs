//! Templates: `{name}` is replaced by a variable, and `{{` and `}}` are braces.

use super::faults::{Reason, RowFaults};
use super::rows::{Row, Rows};
use crate::text::{MAX_BODY_CHARACTERS, Prepared};
use std::ops::Range;

/// A text with more bytes has too many characters.
const MAX_RENDERED_BYTES: usize = 4 * MAX_BODY_CHARACTERS;

/// The longest text that is tried for being blank.
const MAX_BLANK_BYTES: usize = 64;
/// Maximum number of placeholders. More would only fit into a text without anything else.
pub const MAX_PLACEHOLDERS: usize = 200;

/// The reason why a text is not a template.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TemplateFault {
    /// A brace is neither doubled nor part of a placeholder.
    #[error(
        "the brace at character {at} is not part of a placeholder such as {{name}}, whose name has letters, digits \
         and underscores; a brace that is to be sent is doubled: {{{{ or }}}}"
    )]
    LoneBrace {
        /// The position of the brace in characters, from 1.
        at: usize,
    },
    /// The text has too many placeholders.
    #[error("the text has more than {MAX_PLACEHOLDERS} placeholders")]
    TooManyPlaceholders,
}

/// A segment of a template.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Segment {
    /// Fixed characters, as a range of [`Template::literals`].
    Literal(Range<usize>),
    /// A variable, by its index in [`Template::names`].
    Variable(usize),
}

/// A parsed template, which is rendered for each row.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Template {
    literals: String,
    parts: Vec<Segment>,
    names: Vec<String>,
    placeholders: usize,
}

impl Template {
    /// Parses a template.
    pub fn parse(body: &str) -> Result<Self, TemplateFault> {
        let mut template = Self::default();
        let mut rest = body;
        while let Some(at) = rest.find(['{', '}']) {
            template.push_literal(&rest[..at]);
            let from_brace = &rest[at..];
            if from_brace.starts_with("{{") || from_brace.starts_with("}}") {
                template.push_literal(&from_brace[..1]);
                rest = &from_brace[2..];
            } else if let Some(name) = name_of(from_brace) {
                template.push_variable(name)?;
                rest = &from_brace[name.len() + 2..];
            } else {
                let before = &body[..body.len() - from_brace.len()];
                return Err(TemplateFault::LoneBrace {
                    at: before.chars().count() + 1,
                });
            }
        }
        template.push_literal(rest);
        Ok(template)
    }

    /// Returns the names of its variables in the order of their first use.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Looks up the variables in the rows.
    pub fn bind(&self, rows: &Rows) -> Bound<'_> {
        Bound {
            template: self,
            columns: self.names.iter().map(|name| rows.column(name)).collect(),
        }
    }

    /// Returns the text with the values of the variables, by their index in [`Self::names`].
    pub(crate) fn filled<'v>(&self, value: impl Fn(usize) -> &'v str) -> String {
        let mut text = String::new();
        for part in &self.parts {
            text.push_str(match part {
                Segment::Literal(range) => &self.literals[range.clone()],
                Segment::Variable(index) => value(*index),
            });
        }
        text
    }

    /// Returns the reason why the text with these values cannot be sent: it is too long or blank.
    pub(crate) fn fault_of<'v>(&self, value: impl Fn(usize) -> &'v str) -> Option<Reason> {
        let length = |part: &Segment| match part {
            Segment::Literal(range) => range.len(),
            Segment::Variable(index) => value(*index).len(),
        };
        let bytes: usize = self.parts.iter().map(length).sum();
        if bytes > MAX_RENDERED_BYTES {
            return Some(Reason::TooLong);
        }
        if bytes > MAX_BODY_CHARACTERS && self.filled(&value).chars().count() > MAX_BODY_CHARACTERS
        {
            return Some(Reason::TooLong);
        }
        let is_blank =
            bytes <= MAX_BLANK_BYTES && Prepared::of(&self.filled(&value), false).is_none();
        is_blank.then_some(Reason::Empty)
    }

    fn push_literal(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let start = self.literals.len();
        self.literals.push_str(text);
        let end = self.literals.len();
        match self.parts.last_mut() {
            Some(Segment::Literal(last)) => last.end = end,
            _ => self.parts.push(Segment::Literal(start..end)),
        }
    }

    fn push_variable(&mut self, name: &str) -> Result<(), TemplateFault> {
        self.placeholders += 1;
        if self.placeholders > MAX_PLACEHOLDERS {
            return Err(TemplateFault::TooManyPlaceholders);
        }
        let known = self.names.iter().position(|known| known == name);
        let index = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        self.parts.push(Segment::Variable(index));
        Ok(())
    }
}

/// Returns the name of the placeholder at the start of a text.
fn name_of(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('{')?;
    let end = inner.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    (end > 0 && inner[end..].starts_with('}')).then(|| &inner[..end])
}

/// A template with its variables in the rows.
#[derive(Clone, Debug)]
pub struct Bound<'a> {
    template: &'a Template,
    /// The variable of the rows for each name, if there is one.
    columns: Vec<Option<u32>>,
}

impl Bound<'_> {
    /// Appends the text of a row to `text`. If a variable has no value or the text is too long, it
    /// adds the faults and returns `false`.
    pub fn render(&self, row: Row<'_>, text: &mut String, faults: &mut RowFaults) -> bool {
        let mut is_whole = true;
        for (name, column) in self.template.names.iter().zip(&self.columns) {
            let reason = match column {
                None => Reason::Unknown,
                Some(column) if row.value(*column).is_none() => Reason::Missing,
                Some(_) => continue,
            };
            faults.note(row.number(), name, reason);
            is_whole = false;
        }
        if !is_whole {
            return false;
        }
        let start = text.len();
        for part in &self.template.parts {
            let piece = match part {
                Segment::Literal(range) => &self.template.literals[range.clone()],
                Segment::Variable(index) => self.value(*index, row),
            };
            if text.len() - start + piece.len() > MAX_RENDERED_BYTES {
                faults.note(row.number(), "body", Reason::TooLong);
                return false;
            }
            text.push_str(piece);
        }
        if text.len() - start > MAX_BODY_CHARACTERS
            && text[start..].chars().count() > MAX_BODY_CHARACTERS
        {
            faults.note(row.number(), "body", Reason::TooLong);
            return false;
        }
        true
    }

    fn value<'r>(&self, index: usize, row: Row<'r>) -> &'r str {
        let column = self.columns.get(index).copied().flatten();
        column
            .and_then(|column| row.value(column))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::personalised::rows::rows_of;
    use proptest::prelude::*;

    fn rendered(body: &str, variables: &[(&str, &str)]) -> Result<String, Vec<(String, Reason)>> {
        let rows = rows_of(&[("08031234567", variables)]);
        let template = Template::parse(body).unwrap();
        let (mut text, mut faults) = (String::new(), RowFaults::default());
        let row = rows.iter().next().unwrap();
        let is_whole = template.bind(&rows).render(row, &mut text, &mut faults);
        assert_eq!(is_whole, faults.is_empty());
        if is_whole {
            return Ok(text);
        }
        let named = faults.named().iter();
        Err(named
            .map(|fault| (fault.field.clone(), fault.reason))
            .collect())
    }

    #[test]
    fn placeholders_and_doubled_braces_are_replaced() {
        let variables = [("name", "Ada"), ("n_1", "7"), ("ọjọ", "{x}"), ("none", "")];
        let table = [
            ("Hello", "Hello"),
            ("Hi {name}, {n_1}!", "Hi Ada, 7!"),
            ("{name}{name}", "AdaAda"),
            ("{{name}} is {name}", "{name} is Ada"),
            ("{{{name}}}", "{Ada}"),
            ("{name}}}", "Ada}"),
            ("a{{}}b", "a{}b"),
            ("on {ọjọ}", "on {x}"),
            ("[{none}]", "[]"),
            ("", ""),
        ];
        for (body, text) in table {
            assert_eq!(rendered(body, &variables).as_deref(), Ok(text), "{body}");
        }
    }

    #[test]
    fn a_lone_brace_is_refused_with_its_position() {
        let table = [
            ("{", 1),
            ("Hi }", 4),
            ("ẹẹ {name", 4),
            ("{}", 1),
            ("{ name }", 1),
            ("{first name}", 1),
            ("{a-b}", 1),
            ("{{{", 3),
            ("{name}} bye", 7),
        ];
        for (body, at) in table {
            assert_eq!(
                Template::parse(body),
                Err(TemplateFault::LoneBrace { at }),
                "{body}"
            );
        }
        let words = TemplateFault::LoneBrace { at: 3 }.to_string();
        assert!(
            words.contains("character 3") && words.contains("{name}") && words.contains("{{ or }}")
        );
    }

    #[test]
    fn a_text_has_at_most_200_placeholders() {
        assert!(Template::parse(&"{a}".repeat(MAX_PLACEHOLDERS)).is_ok());
        let many = "{a}".repeat(MAX_PLACEHOLDERS + 1);
        assert_eq!(
            Template::parse(&many),
            Err(TemplateFault::TooManyPlaceholders)
        );
    }

    #[test]
    fn a_variable_without_value_is_named_once() {
        let variables = [("name", "Ada")];
        let unknown = vec![("town".to_owned(), Reason::Unknown)];
        assert_eq!(rendered("{town} {town} {name}", &variables), Err(unknown));
        let rows = rows_of(&[
            ("08031234567", &[("town", "Jos")]),
            ("08031234568", &[("name", "Ada")]),
        ]);
        let template = Template::parse("{town}").unwrap();
        let (mut text, mut faults) = (String::new(), RowFaults::default());
        let bound = template.bind(&rows);
        let whole: Vec<bool> = rows
            .iter()
            .map(|row| bound.render(row, &mut text, &mut faults))
            .collect();
        assert_eq!((whole, text.as_str()), (vec![true, false], "Jos"));
        let fault = &faults.named()[0];
        assert_eq!((fault.row, fault.reason), (2, Reason::Missing));
    }

    #[test]
    fn the_limit_counts_the_characters_of_the_rendered_text() {
        let long = "ẹ".repeat(1_529);
        let table = [
            ("{v}!", long.as_str(), true),
            ("{v}!!", &long, false),
            ("{v}{v}{v}{v}{v}{v}{v}{v}", &long, false),
            ("{v}{v}", &"x".repeat(1 << 20), false),
        ];
        for (body, value, fits) in table {
            let found = rendered(body, &[("v", value)]);
            assert_eq!(found.is_ok(), fits, "{body}");
            if let Err(faults) = found {
                assert_eq!(faults, [("body".to_owned(), Reason::TooLong)]);
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_with_doubled_braces_renders_as_itself(text in "[a-z{}ẹ 😀]{0,80}") {
            let doubled = text.replace('{', "{{").replace('}', "}}");
            prop_assert_eq!(rendered(&doubled, &[]), Ok(text));
        }

        #[test]
        fn parsing_never_panics(text in any::<String>(), braces in "[{}a_ ẹ]{0,20}") {
            let _ = Template::parse(&text);
            if let Ok(template) = Template::parse(&braces) {
                let plain = |c: char| c.is_alphanumeric() || c == '_';
                prop_assert!(template.names().iter().all(|name| !name.is_empty() && name.chars().all(plain)));
            }
        }
    }
}
