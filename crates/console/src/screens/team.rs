//! The users of an account, or the operators.

use crate::Shell;
use crate::parts::{Badge, Confirm, Empty, Field};
use askama::Template;

/// A user with a role.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Member {
    /// The name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
    /// The status.
    pub status: Badge,
    /// `true` if the user has a second factor.
    pub has_second_factor: bool,
    /// The select field of the role.
    pub role: Field,
    /// The path that a change of the role is posted to.
    pub role_href: String,
    /// The confirmation of a removal. It is `None` for the user who is signed in.
    pub remove: Option<Confirm>,
}

/// An invitation that nobody has accepted yet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Invitation {
    /// The e-mail address.
    pub email: String,
    /// The role.
    pub role: String,
    /// Time of its end, Unix milliseconds.
    pub expires_at_ms: i64,
    /// The withdrawal.
    pub withdraw: Confirm,
}

/// A link that was just made. It is shown once.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NewLink {
    /// The e-mail address of its user.
    pub email: String,
    /// The address of the link.
    pub address: String,
    /// Time of its end, Unix milliseconds.
    pub expires_at_ms: i64,
}

/// The users of an account, or the operators.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "team.html")]
pub struct Team {
    /// The frame.
    pub shell: Shell,
    /// The link of the invitation that was just made.
    pub link: Option<NewLink>,
    /// The users.
    pub members: Vec<Member>,
    /// The open invitations.
    pub invitations: Vec<Invitation>,
    /// The state without open invitations.
    pub no_invitations: Empty,
    /// The fields of an invitation.
    pub invite: Vec<Field>,
    /// The address that an invitation posts to.
    pub invite_href: String,
}
