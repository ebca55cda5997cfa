//! The roles of users.

/// The role of a user.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// An owner of an account, who may do everything in it.
    Owner,
    /// A developer, who sends and manages tokens and callbacks.
    Developer,
    /// A viewer, who changes nothing.
    Viewer,
    /// An operator of the service.
    Operator,
}

impl Role {
    /// Returns the name that screens show.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Owner => "Owner",
            Self::Developer => "Developer",
            Self::Viewer => "Viewer",
            Self::Operator => "Operator",
        }
    }
}
