//! A field of a form, with its label, hint and error.

use askama::Template;

/// A choice of a field.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Choice {
    /// The value that the form sends.
    pub value: String,
    /// The text that the user reads.
    pub text: String,
}

impl Choice {
    /// Returns a choice.
    pub fn new(value: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            text: text.into(),
        }
    }
}

/// The control of a field.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Kind {
    /// An `<input>` of a type: `text`, `email`, `password`, `tel`, `number`, `datetime-local`.
    Input(&'static str),
    /// A text of many lines.
    Lines(u8),
    /// One of many.
    Select(Vec<Choice>),
    /// One of few, all of them visible.
    Radio(Vec<Choice>),
    /// Yes or no.
    Checkbox,
    /// A file of the given types, such as `.csv,.xlsx`.
    File(&'static str),
}

/// A field of a form.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "parts/field.html")]
pub struct Field {
    /// The name in the form, which is the id of the control too.
    pub name: String,
    /// The label above it.
    pub label: String,
    /// The control.
    pub kind: Kind,
    /// The value, as the user typed it.
    pub value: String,
    /// A hint below the label.
    pub hint: String,
    /// The fault of the value, and how to mend it.
    pub error: Option<String>,
    /// `true` if the form refuses an empty value.
    pub is_required: bool,
    /// The `autocomplete` of the control, such as `current-password`.
    pub autocomplete: &'static str,
    /// The `inputmode` of the control, such as `numeric`.
    pub inputmode: &'static str,
}

impl Field {
    /// Returns a field that must have a value.
    pub fn new(kind: Kind, name: &str, label: &str) -> Self {
        Self {
            name: name.to_owned(),
            label: label.to_owned(),
            kind,
            value: String::new(),
            hint: String::new(),
            error: None,
            is_required: true,
            autocomplete: "",
            inputmode: "",
        }
    }

    /// Returns an `<input>` of one line.
    pub fn text(name: &str, label: &str) -> Self {
        Self::new(Kind::Input("text"), name, label)
    }

    /// Returns a field for a password. Its value is never written into a screen.
    pub fn password(name: &str, label: &str) -> Self {
        Self::new(Kind::Input("password"), name, label)
    }

    /// Sets the value.
    #[must_use]
    pub fn value(self, value: impl Into<String>) -> Self {
        let value = value.into();
        Self { value, ..self }
    }

    /// Sets the hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        Self { hint, ..self }
    }

    /// Sets the error.
    #[must_use]
    pub fn error(self, error: Option<String>) -> Self {
        Self { error, ..self }
    }

    /// Lets the field be empty.
    #[must_use]
    pub fn optional(self) -> Self {
        let is_required = false;
        Self {
            is_required,
            ..self
        }
    }

    /// Sets `autocomplete`.
    #[must_use]
    pub fn autocomplete(self, autocomplete: &'static str) -> Self {
        Self {
            autocomplete,
            ..self
        }
    }

    /// Sets `inputmode`.
    #[must_use]
    pub fn inputmode(self, inputmode: &'static str) -> Self {
        Self { inputmode, ..self }
    }

    /// Returns the value, or nothing for a password.
    fn shown_value(&self) -> &str {
        match self.kind {
            Kind::Input("password") | Kind::File(_) => "",
            _ => &self.value,
        }
    }

    /// Returns the ids of the texts that describe the control.
    fn described_by(&self) -> String {
        let hint = (!self.hint.is_empty()).then(|| format!("{}-hint", self.name));
        let error = self.error.as_ref().map(|_| format!("{}-error", self.name));
        let ids: Vec<String> = hint.into_iter().chain(error).collect();
        ids.join(" ")
    }

    fn is_chosen(&self, choice: &Choice) -> bool {
        choice.value == self.value
    }

    const fn is_group(&self) -> bool {
        matches!(self.kind, Kind::Radio(_))
    }

    const fn is_checkbox(&self) -> bool {
        matches!(self.kind, Kind::Checkbox)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html;

    #[test]
    fn a_password_is_never_written_into_a_screen() {
        let field = Field::password("password", "Password").value("secret");
        assert!(!html(&field).contains("secret"));
    }

    #[test]
    fn a_value_keeps_its_characters_and_runs_nowhere() {
        let field = Field::text("name", "Name").value("\"><script>alert(1)</script>");
        let html = html(&field);
        assert!(!html.contains("<script"), "{html}");
        assert!(
            html.contains("value=\"&#34;&#62;&#60;script&#62;"),
            "{html}"
        );
    }

    #[test]
    fn an_error_describes_its_control() {
        let field = Field::text("to", "To")
            .hint("A number")
            .error(Some("Too short".to_owned()));
        let html = html(&field);
        for part in [
            "aria-describedby=\"to-hint to-error\"",
            "aria-invalid=\"true\"",
            "id=\"to-error\"",
            "Too short",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn the_chosen_value_is_selected() {
        let choices = ["a", "b"].map(|value| Choice::new(value, value.to_uppercase()));
        let select = Field::new(Kind::Select(choices.to_vec()), "one", "One").value("b");
        assert!(html(&select).contains("<option value=\"b\" selected>B</option>"));
        let radio = Field::new(Kind::Radio(choices.to_vec()), "one", "One").value("b");
        assert!(html(&radio).contains("value=\"b\" checked"));
    }
}
