//! Roles and their permissions. One table decides for pages, menus and refusals.

use crate::named_enum;

named_enum! {
    /// The role of a user in an account, or over the whole installation.
    pub enum Role {
        /// The user may do everything in the account.
        Owner = "owner",
        /// The user sends and integrates, and does not manage the team.
        Developer = "developer",
        /// The user reads and changes nothing.
        Viewer = "viewer",
        /// The user runs the installation. The role belongs to no account.
        Operator = "operator",
    }
}

named_enum! {
    /// A permission that a route of the console requires.
    pub enum Permission {
        /// Change the own name, password, second factor and sessions.
        OwnProfile = "own_profile",
        /// Read messages, wallet, sender IDs, tokens and callbacks of the account.
        ViewAccount = "view_account",
        /// Send messages, and pause, resume or cancel them.
        SendMessages = "send_messages",
        /// Change contacts, groups and opt-outs.
        ManageContacts = "manage_contacts",
        /// Request sender IDs.
        ManageSenders = "manage_senders",
        /// Create and revoke API tokens and SMPP users.
        ManageTokens = "manage_tokens",
        /// Replay callbacks, and change their secrets.
        ManageCallbacks = "manage_callbacks",
        /// Pay into the wallet, set alerts and limits, and manage sub-accounts.
        ManageMoney = "manage_money",
        /// Invite users of the account, change their roles and remove them.
        ManageTeam = "manage_team",
        /// Run the installation.
        Operate = "operate",
    }
}

impl Role {
    /// The roles of an account.
    pub const OF_ACCOUNT: [Self; 3] = [Self::Owner, Self::Developer, Self::Viewer];

    /// Returns `true` if the role has a permission.
    pub const fn may(self, permission: Permission) -> bool {
        match permission {
            Permission::OwnProfile => true,
            Permission::ViewAccount => !matches!(self, Self::Operator),
            Permission::SendMessages
            | Permission::ManageContacts
            | Permission::ManageSenders
            | Permission::ManageTokens
            | Permission::ManageCallbacks => matches!(self, Self::Owner | Self::Developer),
            Permission::ManageMoney | Permission::ManageTeam => matches!(self, Self::Owner),
            Permission::Operate => matches!(self, Self::Operator),
        }
    }

    /// Returns `true` for a role of an account.
    pub const fn is_of_account(self) -> bool {
        !matches!(self, Self::Operator)
    }
}

/// Returns `true` if a member may get another role, or leave with `None`. The last owner of an
/// account and the last operator keep theirs, or nobody could invite another.
pub fn may_become(before: Role, after: Option<Role>, others_of_role: usize) -> bool {
    let is_needed = matches!(before, Role::Owner | Role::Operator);
    after == Some(before) || !is_needed || others_of_role > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_has_its_permissions() {
        let all = |role: Role| {
            let granted = Permission::ALL.iter().filter(|&&one| role.may(one));
            let names: Vec<_> = granted.map(|one| one.as_str()).collect();
            names.join(" ")
        };
        let table = [
            (
                Role::Owner,
                "own_profile view_account send_messages manage_contacts manage_senders \
                 manage_tokens manage_callbacks manage_money manage_team",
            ),
            (
                Role::Developer,
                "own_profile view_account send_messages manage_contacts manage_senders \
                 manage_tokens manage_callbacks",
            ),
            (Role::Viewer, "own_profile view_account"),
            (Role::Operator, "own_profile operate"),
        ];
        for (role, expected) in table {
            assert_eq!(all(role), expected, "{}", role.as_str());
            assert_eq!(role.is_of_account(), Role::OF_ACCOUNT.contains(&role));
        }
    }

    #[test]
    fn the_last_owner_and_the_last_operator_stay() {
        let table = [
            (Role::Owner, Some(Role::Viewer), 0, false),
            (Role::Owner, None, 0, false),
            (Role::Owner, Some(Role::Owner), 0, true),
            (Role::Owner, None, 1, true),
            (Role::Operator, None, 0, false),
            (Role::Viewer, None, 0, true),
            (Role::Developer, Some(Role::Owner), 0, true),
        ];
        for (before, after, others, expected) in table {
            assert_eq!(may_become(before, after, others), expected, "{before:?}");
        }
    }
}
