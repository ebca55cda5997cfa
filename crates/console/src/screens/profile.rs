//! The user: name, password, second factor, accounts and sessions.

use crate::Shell;
use crate::parts::{Confirm, Field};
use askama::Template;

/// A session of the user.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Session {
    /// The browser and system.
    pub agent: String,
    /// The address of the client.
    pub client: String,
    /// Time of the sign-in, Unix milliseconds.
    pub created_at_ms: i64,
    /// Time of the last use.
    pub seen_at_ms: i64,
    /// The end of the session, absent for the one that shows the screen.
    pub end: Option<Confirm>,
}

/// An account of the user.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Place {
    /// The name of the account.
    pub name: String,
    /// The role there.
    pub role: String,
    /// The value that the form sends, or `None` for the account that is shown now.
    pub value: Option<String>,
}

/// A passkey of the user.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PasskeyRow {
    /// The name that the user gave it.
    pub name: String,
    /// Time of creation, Unix milliseconds.
    pub created_at_ms: i64,
    /// Time of the last sign-in.
    pub used_at_ms: Option<i64>,
}

/// The passkeys of the user.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PasskeyList {
    /// The passkeys.
    pub rows: Vec<PasskeyRow>,
    /// The fields of a new one. There are none if passkeys do not work here.
    pub add: Vec<Field>,
    /// The fields of a removal.
    pub remove: Vec<Field>,
}

/// The user.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "profile.html")]
pub struct Profile {
    /// The frame.
    pub shell: Shell,
    /// The e-mail address.
    pub email: String,
    /// The field with the name.
    pub name: Field,
    /// The fields of a new password.
    pub password: Vec<Field>,
    /// The state of the second factor in a sentence.
    pub second_factor: String,
    /// `true` if the second factor is on.
    pub has_second_factor: bool,
    /// The field with the password that a change of the second factor needs.
    pub confirmation: Field,
    /// The passkeys of the user.
    pub passkeys: PasskeyList,
    /// The accounts of the user, if there are several.
    pub places: Vec<Place>,
    /// The sessions of the user.
    pub sessions: Vec<Session>,
    /// The end of all other sessions.
    pub end_others: Option<Confirm>,
}

/// The set-up of the second factor.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "second_factor.html")]
pub struct SecondFactor {
    /// The frame.
    pub shell: Shell,
    /// The secret as a person types it.
    pub secret: String,
    /// The address that an app opens.
    pub address: String,
    /// The field with the first code.
    pub code: Field,
}

/// The step in which the browser makes a passkey.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "add_passkey.html")]
pub struct AddPasskey {
    /// The frame.
    pub shell: Shell,
    /// The name of the passkey.
    pub name: String,
    /// The options for the browser, as JSON.
    pub options: String,
}

/// Recovery codes, which are shown once.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "recovery_codes.html")]
pub struct RecoveryCodes {
    /// The frame.
    pub shell: Shell,
    /// The codes.
    pub codes: Vec<String>,
}
