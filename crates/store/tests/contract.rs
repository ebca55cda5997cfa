//! The contract of the store: every public function of `Store`, on SQLite and on PostgreSQL.
//!
//! A rule is written once, as a function over a [`Kit`](storekit::Kit); `twins!` makes a test of it
//! for each database. `testkit` finds a PostgreSQL server or starts one, and each test makes a schema of its own
//! there. Without PostgreSQL these tests are left out.

#[cfg(test)]
mod contract {
    mod accepting;
    mod accounts;
    mod alerts;
    mod audit;
    mod backup;
    mod buckets;
    mod cancelling;
    mod carriers;
    mod chance;
    mod claims;
    mod contacts;
    mod content;
    mod counts;
    mod dnd;
    mod doubt;
    mod groups;
    mod holds;
    mod inbound;
    mod inbound_answers;
    mod keys;
    mod legs;
    mod limits;
    mod memory;
    mod model;
    mod money;
    mod nodes;
    mod opt_outs;
    mod otps;
    mod outbox;
    mod pages;
    mod passkeys;
    mod pausing;
    mod personalised;
    mod plans;
    mod prefixes;
    mod properties;
    mod rates;
    mod raw_receipts;
    mod receipt_polls;
    mod receipts;
    mod reports;
    mod requests;
    mod retention;
    mod revenue;
    mod scheduled;
    mod schema;
    mod search;
    mod sender_requests;
    mod severed;
    mod smpp_receipts;
    mod smpp_users;
    mod sources;
    mod spread;
    mod storm;
    mod sub_accounts;
    mod sweeps;
    mod top_ups;
    mod uploads;
    mod users;
    mod vacuum;
    mod velocity;
    mod verification;
}
