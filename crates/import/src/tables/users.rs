//! The tables of users and their credentials: the console, SMPP users, and tokens.

use super::super::table::ColumnType::{Bool, Bytes, Int, Text};
use super::super::table::{Bucketed, Table};

const CHUNK: i64 = 2_000;

/// The users.
pub(super) const USERS: Table = Table {
    name: "users",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[
        ("user_id", Int),
        ("email", Text),
        ("name", Text),
        ("status", Text),
        ("password", Text),
        ("totp_secret", Bytes),
        ("totp_step", Int),
        ("recovery_codes", Text),
        ("created_at_ms", Int),
    ],
    chunk: CHUNK,
};

/// The memberships of users.
pub(super) const MEMBERSHIPS: Table = Table {
    name: "memberships",
    bucketed: Bucketed::No,
    key: 2,
    columns: &[
        ("user_id", Int),
        ("account_id", Int),
        ("role", Text),
        ("created_at_ms", Int),
    ],
    chunk: CHUNK,
};

/// The sessions, so that users stay signed in.
pub(super) const SESSIONS: Table = Table {
    name: "sessions",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[
        ("session_hash", Bytes),
        ("user_id", Int),
        ("account_id", Int),
        ("signed_in", Bool),
        ("created_at_ms", Int),
        ("seen_at_ms", Int),
        ("expires_at_ms", Int),
        ("client", Text),
        ("agent", Text),
    ],
    chunk: CHUNK,
};

/// The passkeys.
pub(super) const PASSKEYS: Table = Table {
    name: "passkeys",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[
        ("credential_id", Bytes),
        ("user_id", Int),
        ("name", Text),
        ("public_key", Bytes),
        ("state", Bytes),
        ("transports", Int),
        ("created_at_ms", Int),
        ("used_at_ms", Int),
    ],
    chunk: CHUNK,
};

/// The one-time links, so that invitations stay good.
pub(super) const ONE_TIME_LINKS: Table = Table {
    name: "one_time_links",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[
        ("link_hash", Bytes),
        ("purpose", Text),
        ("user_id", Int),
        ("account_id", Int),
        ("role", Text),
        ("created_at_ms", Int),
        ("expires_at_ms", Int),
        ("used_at_ms", Int),
    ],
    chunk: CHUNK,
};

/// The SMPP users.
pub(super) const SMPP_USERS: Table = Table {
    name: "smpp_users",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[
        ("system_id", Text),
        ("account_id", Int),
        ("password_hash", Text),
        ("sandbox", Bool),
        ("binds", Int),
        ("per_second", Int),
        ("unanswered", Int),
        ("allowed", Text),
        ("gateway", Text),
        ("vendor_statuses", Bool),
        ("latin_1", Bool),
        ("created_at_ms", Int),
        ("revoked_at_ms", Int),
    ],
    chunk: CHUNK,
};

/// The tokens of accounts.
pub(super) const TOKENS: Table = Table {
    name: "tokens",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[
        ("token_id", Text),
        ("account_id", Int),
        ("name", Text),
        ("hash", Bytes),
        ("created_at_ms", Int),
        ("revoked_at_ms", Int),
        ("expires_at_ms", Int),
        ("allowed", Text),
        ("scopes", Text),
        ("per_minute", Int),
        ("used_at_ms", Int),
    ],
    chunk: CHUNK,
};
