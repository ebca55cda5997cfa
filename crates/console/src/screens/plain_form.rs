//! The forms of people who are not signed in: sign-in, second factor, first run, invitation, reset.

use crate::parts::Field;
use crate::{Notice, Theme};
use askama::Template;

/// The address of the request for a new password.
const FORGOTTEN: &str = "/sign-in/forgotten";

/// A form outside of the frame.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "plain_form.html")]
pub struct PlainForm {
    /// The title.
    pub title: String,
    /// The text below the title.
    pub text: String,
    /// Notices above the form.
    pub notices: Vec<Notice>,
    /// The fields.
    pub fields: Vec<Field>,
    /// Hidden fields.
    pub hidden: Vec<(String, String)>,
    /// The address that the form posts to.
    pub href: String,
    /// The name of the button. A screen of text alone has none, and no form.
    pub action: String,
    /// `true` if a second form asks for a passkey.
    pub asks_passkey: bool,
    /// Links below the form, by name and address.
    pub links: Vec<(String, String)>,
    /// The token of the form.
    pub csrf_token: String,
    /// The colours that the user chose.
    pub theme: Theme,
}

impl PlainForm {
    /// Returns a form without fields.
    pub fn new(title: &str, href: &str, action: &str) -> Self {
        Self {
            title: title.to_owned(),
            text: String::new(),
            notices: Vec::new(),
            fields: Vec::new(),
            hidden: Vec::new(),
            href: href.to_owned(),
            action: action.to_owned(),
            asks_passkey: false,
            links: Vec::new(),
            csrf_token: String::new(),
            theme: Theme::default(),
        }
    }

    /// Returns the sign-in. The form keeps the e-mail address after a refusal.
    pub fn sign_in(email: &str) -> Self {
        Self {
            fields: vec![email_field().value(email), current_password()],
            links: vec![("Forgot password?".to_owned(), FORGOTTEN.to_owned())],
            ..Self::new("Sign in", "/sign-in", "Sign in")
        }
    }

    /// Returns the request for a link to choose a new password.
    pub fn forgotten(email: &str) -> Self {
        Self {
            text: "A mail brings you a link to choose a new password.".to_owned(),
            fields: vec![email_field().value(email)],
            links: to_sign_in(),
            ..Self::new("Forgot password?", FORGOTTEN, "Send the link")
        }
    }

    /// Returns the answer to a request for a link. It is the same whether a user has the address.
    pub fn forgotten_mailed(email: &str) -> Self {
        Self {
            text: format!(
                "If a user has the address {email}, a mail is on its way. Its link is good once, \
                 for 30 minutes. No mail? Check the spam folder, or try another address."
            ),
            links: to_sign_in(),
            ..Self::new("Check your mail", "", "")
        }
    }

    /// Returns the place of help on an installation without mail.
    pub fn forgotten_without_mail() -> Self {
        Self {
            text: "This service sends no mail. Ask the people who run it for a link to choose a \
                   new password. They make it with the command `ogene user reset`."
                .to_owned(),
            links: to_sign_in(),
            ..Self::new("Forgot password?", "", "")
        }
    }

    /// Returns the second step of the sign-in.
    pub fn second_factor() -> Self {
        let code = Field::text("code", "Code")
            .hint("Six digits from your authenticator app, or one of your recovery codes.")
            .autocomplete("one-time-code");
        Self {
            fields: vec![code],
            links: vec![("Start again".to_owned(), "/sign-in".to_owned())],
            ..Self::new("Enter your code", "/sign-in/code", "Continue")
        }
    }

    /// Returns the first run, which makes the first operator.
    pub fn set_up(name: &str, email: &str) -> Self {
        let fields = [name_field().value(name), email_field().value(email)];
        Self {
            text: "Ogene runs. Create the operator who will manage it; there is no default \
                   password."
                .to_owned(),
            fields: fields.into_iter().chain([new_password()]).collect(),
            ..Self::new("Set up Ogene", "/set-up", "Create operator")
        }
    }

    /// Returns the answer to an invitation.
    pub fn invitation(account_name: &str, href: &str) -> Self {
        Self {
            text: format!("You were invited to the account {account_name}."),
            fields: vec![name_field(), new_password()],
            ..Self::new("Join your team", href, "Join")
        }
    }

    /// Returns the choice of a new password.
    pub fn new_password(href: &str) -> Self {
        Self {
            text: "Your other sessions end when you save it.".to_owned(),
            fields: vec![new_password()],
            ..Self::new("Choose a new password", href, "Save password")
        }
    }
}

fn to_sign_in() -> Vec<(String, String)> {
    vec![("Back to the sign-in".to_owned(), "/sign-in".to_owned())]
}

fn name_field() -> Field {
    Field::text("name", "Your name").autocomplete("name")
}

fn email_field() -> Field {
    let kind = crate::parts::Kind::Input("email");
    Field::new(kind, "email", "E-mail address").autocomplete("username")
}

fn current_password() -> Field {
    Field::password("password", "Password").autocomplete("current-password")
}

fn new_password() -> Field {
    Field::password("password", "Password")
        .hint("At least 12 characters. A sentence that only you know is good.")
        .autocomplete("new-password")
}
