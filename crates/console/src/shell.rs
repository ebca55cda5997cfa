//! The frame around every screen.

use crate::asset::{Asset, HTMX, ICON, PASSKEY, SCRIPT, STYLE};
use crate::navigation::{Group, Section, groups};
use crate::parts::Tone;
use crate::role::role_name;
use domain::Environment;
use domain::user::role::{Permission, Role};

/// The colours that a user chose.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Theme {
    /// The colours of the browser's setting.
    #[default]
    System,
    /// Light colours.
    Light,
    /// Dark colours.
    Dark,
}

impl Theme {
    /// All themes, in the order of the switch.
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// Returns the value of the form field and the cookie.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// Returns the name that the switch shows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "System",
            Self::Light => "Light",
            Self::Dark => "Dark",
        }
    }

    /// Returns the theme of a form field or cookie. An unknown value is the system's.
    pub fn parse(value: &str) -> Self {
        let known = Self::ALL.into_iter().find(|theme| theme.as_str() == value);
        known.unwrap_or_default()
    }
}

/// A notice at the top of a screen.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Notice {
    /// Its weight.
    pub tone: Tone,
    /// Its text, which names the next step where there is one.
    pub text: String,
}

impl Notice {
    /// Returns a notice that a change was made.
    pub fn done(text: impl Into<String>) -> Self {
        Self {
            tone: Tone::Good,
            text: text.into(),
        }
    }

    /// Returns a notice that a change was refused.
    pub fn refused(text: impl Into<String>) -> Self {
        Self {
            tone: Tone::Bad,
            text: text.into(),
        }
    }
}

/// The frame around every screen: who uses it, and where the screen stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Shell {
    /// The title of the screen, which is its first heading too.
    pub title: String,
    /// The section that the navigation marks.
    pub section: Section,
    /// The name of the account, or of the installation for operators.
    pub account_name: String,
    /// `true` if the account belongs to another one.
    pub is_sub_account: bool,
    /// The name of the user.
    pub user_name: String,
    /// The role of the user.
    pub role: Role,
    /// The token that every form returns.
    pub csrf_token: String,
    /// Notices above the content.
    pub notices: Vec<Notice>,
    /// The environment whose data the screen shows.
    pub environment: Environment,
    /// The colours that the user chose.
    pub theme: Theme,
    /// The time of the answer in Unix milliseconds.
    pub now_ms: i64,
}

impl Shell {
    /// Returns `true` if the user may send messages.
    pub(crate) const fn may_send(&self) -> bool {
        self.role.may(Permission::SendMessages)
    }

    pub(crate) const fn role_name(&self) -> &'static str {
        role_name(self.role)
    }

    pub(crate) fn groups(&self) -> Vec<Group> {
        groups(self.role, self.environment, self.is_sub_account)
    }

    pub(crate) const fn is_sandbox(&self) -> bool {
        matches!(self.environment, Environment::Sandbox)
    }

    pub(crate) const fn is_operator(&self) -> bool {
        matches!(self.role, Role::Operator)
    }
}

/// The files that the head of a screen names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Files;

impl Files {
    pub(crate) fn style() -> String {
        STYLE.path()
    }

    pub(crate) fn scripts() -> [String; 2] {
        [HTMX, SCRIPT].map(|asset: Asset| asset.path())
    }

    pub(crate) fn passkey() -> String {
        PASSKEY.path()
    }

    pub(crate) fn icon() -> String {
        ICON.path()
    }
}
