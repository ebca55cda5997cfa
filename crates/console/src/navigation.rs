//! The sections of the console, and the navigation that a role has.

use domain::Environment;
use domain::user::role::{Permission, Role};

/// A section of the console. Each has a place in the navigation or in the menu of the user.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Section {
    /// The customer's overview.
    Overview,
    /// The form that sends messages.
    Send,
    /// The customer's messages.
    Messages,
    /// The simulated phones of the sandbox.
    Inbox,
    /// The messages of subscribers.
    Inbound,
    /// Numbers that opted out.
    OptOuts,
    /// Contacts and groups.
    Contacts,
    /// The customer's sender IDs.
    SenderIds,
    /// Tokens of the API.
    Tokens,
    /// Users of the SMPP server.
    SmppUsers,
    /// Callbacks and their attempts.
    Callbacks,
    /// Requests to the API.
    Requests,
    /// The statement of the wallet.
    Wallet,
    /// Payments into the wallet.
    TopUps,
    /// Alerts about a low balance.
    Alerts,
    /// The accounts that belong to the account.
    SubAccounts,
    /// The users of the account.
    Team,
    /// The user: password, second factor, sessions.
    Profile,
    /// The operator's overview.
    Operations,
    /// Carriers and their binds.
    Carriers,
    /// All accounts.
    Accounts,
    /// The approval queue of sender IDs.
    Approvals,
    /// Messages of all accounts.
    AllMessages,
    /// Recipients in doubt.
    Doubts,
    /// Dead callbacks of all accounts.
    DeadCallbacks,
    /// Blocks of numbers that are paused.
    PausedBlocks,
    /// Rules of content.
    Content,
    /// Payments of all accounts.
    AllTopUps,
    /// Revenue by month.
    Revenue,
    /// The audit log.
    Audit,
    /// The check of the books.
    Verify,
}

/// An entry of the navigation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Entry {
    pub(crate) section: Section,
    pub(crate) name: &'static str,
    pub(crate) path: &'static str,
    /// The path of the icon, drawn in a square of 16 pixels.
    pub(crate) icon: &'static str,
}

/// Entries under one heading.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) entries: Vec<Entry>,
}

/// Returns the navigation of a role. Sections that the role may not use are left out, and so are
/// sections without a page.
/// The simulated phones belong to the sandbox, and a sub-account has no sub-accounts.
pub(crate) fn groups(role: Role, environment: Environment, is_sub_account: bool) -> Vec<Group> {
    let groups: &[(&'static str, &[Section])] = match role {
        Role::Operator => &OPERATOR,
        Role::Owner | Role::Developer | Role::Viewer => &CUSTOMER,
    };
    let entries = |sections: &[Section]| {
        let is_shown = |section: &&Section| {
            let is_there = match section {
                Section::Inbox => environment == Environment::Sandbox,
                Section::SubAccounts => !is_sub_account,
                _ => true,
            };
            section.is_for(role) && is_there
        };
        let allowed = sections.iter().filter(is_shown);
        allowed.map(|section| section.entry()).collect()
    };
    let groups = groups.iter().map(|(name, sections)| Group {
        name,
        entries: entries(sections),
    });
    groups.filter(|group| !group.entries.is_empty()).collect()
}

const CUSTOMER: [(&str, &[Section]); 4] = [
    ("", &[Section::Overview]),
    (
        "Messaging",
        &[
            Section::Send,
            Section::Messages,
            Section::Inbox,
            Section::Inbound,
            Section::Contacts,
            Section::OptOuts,
            Section::SenderIds,
        ],
    ),
    (
        "Developers",
        &[
            Section::Tokens,
            Section::SmppUsers,
            Section::Callbacks,
            Section::Requests,
        ],
    ),
    (
        "Account",
        &[
            Section::Wallet,
            Section::TopUps,
            Section::Alerts,
            Section::SubAccounts,
            Section::Team,
        ],
    ),
];

const OPERATOR: [(&str, &[Section]); 4] = [
    ("", &[Section::Operations]),
    (
        "Traffic",
        &[
            Section::AllMessages,
            Section::Carriers,
            Section::Doubts,
            Section::DeadCallbacks,
            Section::PausedBlocks,
        ],
    ),
    (
        "Customers",
        &[Section::Accounts, Section::Approvals, Section::Content],
    ),
    (
        "Books",
        &[
            Section::AllTopUps,
            Section::Revenue,
            Section::Audit,
            Section::Verify,
        ],
    ),
];

impl Section {
    /// Returns `true` if a role may use the section.
    pub const fn is_for(self, role: Role) -> bool {
        role.may(self.permission())
    }

    /// Returns the permission that the first screen of the section needs.
    pub const fn permission(self) -> Permission {
        match self {
            Self::Send => Permission::SendMessages,
            Self::Team => Permission::ManageTeam,
            Self::Overview
            | Self::Messages
            | Self::Inbox
            | Self::Inbound
            | Self::OptOuts
            | Self::Contacts
            | Self::SenderIds
            | Self::Tokens
            | Self::SmppUsers
            | Self::Callbacks
            | Self::Requests
            | Self::Wallet
            | Self::TopUps
            | Self::Alerts
            | Self::SubAccounts => Permission::ViewAccount,
            Self::Profile => Permission::OwnProfile,
            Self::Operations
            | Self::Carriers
            | Self::Accounts
            | Self::Approvals
            | Self::AllMessages
            | Self::Doubts
            | Self::DeadCallbacks
            | Self::PausedBlocks
            | Self::Content
            | Self::AllTopUps
            | Self::Revenue
            | Self::Audit
            | Self::Verify => Permission::Operate,
        }
    }

    /// Returns the path of the first screen of the section.
    pub const fn path(self) -> &'static str {
        self.entry().path
    }

    const fn entry(self) -> Entry {
        let (name, path, icon) = match self {
            Self::Overview => ("Overview", "/console/", BLOCKS),
            Self::Send => ("Send", "/console/send", "M14 2 2 7l5 2 2 5zM14 2 7 9"),
            Self::Messages => ("Messages", "/console/messages", "M2 3h12v8H7l-3 3v-3H2z"),
            Self::Inbox => ("Simulated phones", "/console/inbox", PHONE),
            Self::Inbound => ("Inbound", "/console/inbound", INCOMING),
            Self::OptOuts => ("Opt-outs", "/console/opt-outs", BARRED),
            Self::Contacts => ("Contacts", "/console/contacts", PERSON),
            Self::SenderIds => ("Sender IDs", "/console/sender-ids", TAG),
            Self::Tokens => ("API tokens", "/console/tokens", KEY),
            Self::SmppUsers => ("SMPP users", "/console/smpp-users", PLUG),
            Self::Callbacks => ("Callbacks", "/console/callbacks", ARROW),
            Self::DeadCallbacks => ("Dead callbacks", "/operator/callbacks", ARROW),
            Self::Requests => ("Request log", "/console/requests", BRACKETS),
            Self::Wallet => ("Wallet", "/console/wallet", "M2 4h12v9H2zM2 7h12M10.5 10h1"),
            Self::TopUps => ("Top-ups", "/console/top-ups", ADDED),
            Self::Alerts => ("Alerts", "/console/alerts", BELL),
            Self::SubAccounts => ("Sub-accounts", "/console/sub-accounts", TREE),
            Self::Team => ("Team", "/console/team", PEOPLE),
            Self::Profile => ("Profile", "/console/profile", PEOPLE),
            Self::Operations => ("Overview", "/operator/", BLOCKS),
            Self::Carriers => ("Carriers", "/operator/carriers", MAST),
            Self::Accounts => ("Accounts", "/operator/accounts", PEOPLE),
            Self::Approvals => ("Sender IDs", "/operator/sender-ids", TAG),
            Self::AllMessages => ("Messages", "/operator/messages", "M2 3h12v8H7l-3 3v-3H2z"),
            Self::Doubts => ("In doubt", "/operator/doubts", QUESTION),
            Self::PausedBlocks => ("Paused blocks", "/operator/paused-blocks", PAUSED),
            Self::Content => ("Content rules", "/operator/content", SHIELD),
            Self::AllTopUps => ("Top-ups", "/operator/top-ups", ADDED),
            Self::Revenue => ("Revenue", "/operator/revenue", COLUMNS),
            Self::Audit => ("Audit log", "/operator/audit", CLOCK),
            Self::Verify => ("Verify", "/operator/verify", "M2.5 8.5 6 12l7.5-8"),
        };
        Entry {
            section: self,
            name,
            path,
            icon,
        }
    }
}

const BLOCKS: &str = "M2 2h5v5H2zM9 2h5v3H9zM9 7h5v7H9zM2 9h5v5H2z";

const PERSON: &str = "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14c.5-3 2.5-4 5.5-4s5 1 5.5 4z";

const KEY: &str = "M5.5 13.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM7.7 8.3 13.5 2.5M11 5l2 2";

const MAST: &str = "M8 7v7M5 14h6M5.5 7.5a3.5 3.5 0 1 1 5 0M3.2 9.5a6.5 6.5 0 1 1 9.6 0";

const QUESTION: &str =
    "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.2 6.3a1.8 1.8 0 1 1 1.8 2v.7M8 11.2v.3";

const SHIELD: &str = "M8 1.5 13.5 4v4c0 3.5-2.5 5.5-5.5 6.5C5 13.5 2.5 11.5 2.5 8V4z";

const CLOCK: &str = "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.5V8l2.5 2";

const ADDED: &str = "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v6M5 8h6";

const COLUMNS: &str = "M2 14h12M4 14V9M8 14V3M12 14V6";

const BELL: &str = "M3.5 11.5h9l-1.2-1.8V7a3.3 3.3 0 0 0-6.6 0v2.7zM6.8 13.5h2.4";

const PEOPLE: &str = "M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c.3-2.5 2-4 4.5-4s4.2 1.5 4.5 4M10.5 2.7a2.5 2.5 0 0 1 0 4.6M12 9.8c1.5.5 2.3 1.8 2.5 3.7";

const ARROW: &str = "M2 8h10M9 4.5 12.5 8 9 11.5M14 3v10";

const BRACKETS: &str = "M5 4 1.5 8 5 12M11 4l3.5 4-3.5 4";

const INCOMING: &str = "M2 3h12v8H7l-3 3v-3H2zM8 4.5v4M6 6.8l2 2 2-2";

const PAUSED: &str = "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.5 5.8v4.4M9.5 5.8v4.4";

const BARRED: &str = "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM3.8 3.8l8.4 8.4";

const PHONE: &str = "M4.5 1.5h7v13h-7zM7 12.5h2";

const PLUG: &str = "M5.5 2v4M10.5 2v4M3.5 6h9v2a4.5 4.5 0 0 1-9 0zM8 12.5V15";

const TREE: &str = "M5.5 2h5v4h-5zM1.5 10h5v4h-5zM9.5 10h5v4h-5zM8 6v2M4 10V8h8v2";

const TAG: &str = "M2 2h6l6 6-6 6-6-6zM5.5 5.5h.1";

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(role: Role) -> Vec<&'static str> {
        paths_in(role, Environment::Sandbox)
    }

    fn paths_in(role: Role, environment: Environment) -> Vec<&'static str> {
        paths_of(role, environment, false)
    }

    fn paths_of(role: Role, environment: Environment, is_sub: bool) -> Vec<&'static str> {
        let groups = groups(role, environment, is_sub).into_iter();
        let entries = groups.flat_map(|group| group.entries);
        entries.map(|entry| entry.path).collect()
    }

    #[test]
    fn the_navigation_has_what_a_role_may_use() {
        let cases = [
            (Role::Owner, "/console/team", true),
            (Role::Owner, "/console/send", true),
            (Role::Developer, "/console/send", true),
            (Role::Developer, "/console/team", false),
            (Role::Viewer, "/console/messages", true),
            (Role::Viewer, "/console/send", false),
            (Role::Operator, "/operator/", true),
            (Role::Operator, "/console/wallet", false),
        ];
        for (role, path, expected) in cases {
            assert_eq!(paths(role).contains(&path), expected, "{role:?} {path}");
        }
    }

    #[test]
    fn simulated_phones_are_in_the_sandbox_alone() {
        for (environment, expected) in [(Environment::Live, false), (Environment::Sandbox, true)] {
            let shown = paths_in(Role::Viewer, environment).contains(&"/console/inbox");
            assert_eq!(shown, expected);
        }
    }

    #[test]
    fn a_sub_account_has_no_sub_accounts() {
        for is_sub in [false, true] {
            let paths = paths_of(Role::Owner, Environment::Live, is_sub);
            assert_eq!(paths.contains(&"/console/sub-accounts"), !is_sub);
        }
    }

    #[test]
    fn no_path_leads_to_two_sections() {
        for role in [Role::Owner, Role::Operator] {
            let mut all = paths(role);
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count);
        }
    }
}
