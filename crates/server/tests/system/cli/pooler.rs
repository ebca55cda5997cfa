//! Commands behind a pool of connections.

use super::AN_ACCOUNT;
use crate::installation::Installation;
use crate::pgbouncer::Pgbouncer;
use crate::postgres::Postgres;
use std::time::{Duration, Instant};
use testkit::sql;

/// PostgreSQL's own port.
const PORT: u16 = 5432;
/// Time in which a fault must be found. There is no wait for anything.
const AT_ONCE: Duration = Duration::from_secs(5);

#[test]
fn a_pool_in_session_mode_keeps_what_a_connection_sets() {
    testkit::needs!(PostgresPrograms, Pgbouncer);
    let server = Postgres::start(&[]);
    let pooler = Pgbouncer::start(&server);
    let ogene = Installation::on(&pooler.url("session"));
    ogene.json(&["migrate"]);
    // A trigger records the settings of the connection that writes an account.
    let direct = server.url("ogene", "postgres", PORT);
    sql(
        &direct,
        "create table seen (setting text, value text);
         create function look() returns trigger language plpgsql as $$ begin
             insert into seen select name, current_setting(name) from unnest(array['enable_seqscan',
                 'idle_in_transaction_session_timeout', 'lock_timeout', 'plan_cache_mode']) name;
             return new;
         end $$;
         create trigger look before insert on accounts for each row execute function look()",
    );
    ogene.json(&AN_ACCOUNT);
    let seen = sql(&direct, "select * from seen");
    insta::assert_snapshot!(seen, @r"
    enable_seqscan|off
    idle_in_transaction_session_timeout|2s
    lock_timeout|3s
    plan_cache_mode|force_generic_plan
    ");
}

#[test]
fn a_pool_in_transaction_mode_is_refused_at_once() {
    testkit::needs!(PostgresPrograms, Pgbouncer);
    let server = Postgres::start(&[]);
    let pooler = Pgbouncer::start(&server);
    let ogene = Installation::on(&pooler.url("transaction"));
    let directory = server.path().display().to_string();
    for command in [&["migrate"][..], &["account", "list"], &["verify"]] {
        let begun = Instant::now();
        let (code, sentence) = ogene.failure(command);
        assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
        assert_eq!(code, Some(1), "{sentence}");
        let expected =
            "is a pooler in transaction mode: name the server itself, or a pool in session mode";
        assert!(sentence.contains(expected), "{sentence}");
        assert!(sentence.contains(&directory), "{sentence}");
    }
    let begun = Instant::now();
    let (code, _) = ogene.failure_among_logs(&["serve"]);
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    assert_eq!(code, Some(1));
    // No table was made on the way.
    let direct = server.url("ogene", "postgres", PORT);
    assert_eq!(
        sql(
            &direct,
            "select count(*) from pg_tables where schemaname = 'public'"
        )
        .trim(),
        "0"
    );
}
