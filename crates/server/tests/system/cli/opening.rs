//! Faults of a PostgreSQL that cannot be used: each has an error that names the remedy.

use super::AN_ACCOUNT;
use crate::installation::Installation;
use crate::postgres::Postgres;
use crate::process::Process;
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use std::fs;
use std::path::Path;
use testkit::sql;

/// PostgreSQL's own port.
const PORT: u16 = 5432;
const PASSWORD: &str = "hush-hush";
/// The rules of `pg_hba.conf`: the socket admits all roles but one, and one of them by password
/// alone. TCP admits with TLS alone.
const RULES: &str = "local all walled scram-sha-256\nlocal all barred reject\nlocal all all trust\n\
                     hostssl all certified 127.0.0.1/32 cert\nhostssl all all 127.0.0.1/32 trust\n";
/// Roles, databases and schemas with one fault each. `able` has the rights that it needs, and no
/// others.
const FAULTS: &str = "
    create role walled login password 'another';
    create role barred login;
    create role able login;
    create role unable login;
    create role lost login;
    create role reader login;
    create role hasty login;
    create role certified login;
    create role crowded login connection limit 0;
    alter role lost set search_path = nowhere;
    alter role reader set default_transaction_read_only = on;
    alter role hasty set synchronous_commit = off;
    create schema theirs;
    grant usage, create on schema theirs to unable;
    create schema newer;
    create schema ours;
    grant usage, create on schema ours to able";

/// Returns the error that every command prints about a database.
fn fault_of(url: &str) -> String {
    let ogene = Installation::on(url);
    let mut sentences = Vec::new();
    for command in [&["migrate"][..], &["account", "list"], &["verify"]] {
        let (code, sentence) = ogene.failure(command);
        assert_eq!(code, Some(1), "{sentence}");
        sentences.push(sentence);
    }
    let (code, sentence) = ogene.failure_among_logs(&["serve"]);
    assert_eq!(code, Some(1), "{sentence}");
    assert_eq!(sentence, sentences[0]);
    assert!(!sentence.contains(PASSWORD), "{sentence}");
    sentences.dedup();
    assert_eq!(sentences.len(), 1, "{sentences:?}");
    sentences.remove(0)
}

fn within(url: &str, schema: &str) -> String {
    format!("{url}&options=-csearch_path%3D{schema}")
}

/// Makes all of [`FAULTS`], and tables in two of its schemas.
fn make_faults(admin: &str) {
    sql(admin, FAULTS);
    sql(admin, "create database private");
    sql(
        admin,
        "create database latin encoding 'LATIN1' locale 'C' template template0",
    );
    sql(admin, "revoke connect on database private from public");
    for schema in ["theirs", "newer"] {
        Installation::on(&within(admin, schema)).json(&["migrate"]);
    }
    sql(
        &within(admin, "theirs"),
        "grant select, insert, update, delete on all tables in schema theirs to unable;
         revoke select on messages from unable; revoke update on wallets from unable",
    );
    sql(
        &within(admin, "newer"),
        "insert into _migrations (version, name, checksum)
         values (9999, 'of the future', '')",
    );
}

/// A URL for each fault, by its name.
fn faulty_urls(server: &Postgres, port: u16) -> [(&'static str, String); 21] {
    let local = |role: &str| server.url(role, "postgres", port);
    let remote = |mode: &str| format!("postgres://ogene@127.0.0.1:{port}/postgres?sslmode={mode}");
    let admin = local("ogene");
    let other = server.path().join("other.pem");
    let authority = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("one");
    std::fs::write(&other, authority.cert.pem()).expect("written");
    [
        ("no socket", format!("{admin}&host=/nowhere")),
        (
            "no listener",
            "postgres://ogene@127.0.0.1:1/postgres".to_owned(),
        ),
        ("password", local(&format!("walled:{PASSWORD}"))),
        ("no role", local("nobody")),
        ("barred", local("barred").replace('?', "?sslmode=prefer&")),
        ("no database", server.url("ogene", "nowhere", port)),
        ("encoding", server.url("ogene", "latin", port)),
        ("TLS required", remote("disable")),
        ("TLS untrusted", remote("verify-full")),
        (
            "TLS by another authority",
            format!("{}&sslrootcert={}", remote("require"), other.display()),
        ),
        (
            "no authority",
            format!("{}&sslrootcert=/nowhere.pem", remote("require")),
        ),
        (
            "client certificate",
            remote("require").replace("ogene@", "certified@"),
        ),
        ("no TLS", format!("{admin}&sslmode=require")),
        ("no right to connect", server.url("able", "private", port)),
        ("no right to create", local("able")),
        ("no schema", local("lost")),
        ("no right to write", within(&local("unable"), "theirs")),
        ("read-only", local("reader")),
        ("not durable", local("hasty")),
        ("full", local("crowded")),
        ("newer", within(&admin, "newer")),
    ]
}

#[test]
fn each_fault_of_a_server_has_a_sentence_that_says_what_to_do() {
    testkit::needs!(PostgresPrograms);
    let (server, port) = Postgres::start_with_tls(RULES);
    let admin = server.url("ogene", "postgres", port);
    make_faults(&admin);
    let lines = faulty_urls(&server, port).map(|(name, url)| format!("{name}: {}", fault_of(&url)));
    let told = lines
        .join("\n")
        .replace(&server.path().display().to_string(), "DIRECTORY")
        .replace(&port.to_string(), "PORT");
    let known = sql(
        &within(&admin, "theirs"),
        "select max(version) from _migrations",
    );
    let told = told.replace(&format!("knows {}", known.trim()), "knows KNOWN");
    insta::assert_snapshot!(told, @r#"
    no socket: PostgreSQL at /nowhere:PORT cannot be reached (No such file or directory (os error 2)): see that it runs and that `database_url` names its host and port
    no listener: PostgreSQL at 127.0.0.1:1 cannot be reached (Connection refused (os error 111)): see that it runs and that `database_url` names its host and port
    password: PostgreSQL at DIRECTORY:PORT refuses the role walled with this password: correct them in `database_url`
    no role: PostgreSQL at DIRECTORY:PORT does not let nobody log in (role "nobody" does not exist): create the role, or name another in `database_url`
    barred: PostgreSQL at DIRECTORY:PORT does not admit barred (pg_hba.conf rejects connection for host "[local]", user "barred", database "postgres", no encryption): add a line for it to the server's pg_hba.conf
    no database: there is no database nowhere on PostgreSQL at DIRECTORY:PORT: create it (`create database nowhere owner ogene`), or name another in `database_url`
    encoding: the database latin is encoded in LATIN1, which lacks most characters: name one in `database_url` that was created with `encoding 'UTF8'`
    TLS required: PostgreSQL at 127.0.0.1:PORT does not admit ogene without TLS (no pg_hba.conf entry for host "127.0.0.1", user "ogene", database "postgres", no encryption): put `sslmode=require` into `database_url`
    TLS untrusted: TLS with PostgreSQL at 127.0.0.1:PORT failed (invalid peer certificate: UnknownIssuer): correct TLS at the server, or `sslmode` and `sslrootcert` in `database_url`
    TLS by another authority: TLS with PostgreSQL at 127.0.0.1:PORT failed (invalid peer certificate: BadSignature): correct TLS at the server, or `sslmode` and `sslrootcert` in `database_url`
    no authority: the file /nowhere.pem cannot be read (No such file or directory (os error 2)): correct `sslrootcert` in `database_url`
    client certificate: PostgreSQL at 127.0.0.1:PORT asks certified for a client certificate (connection requires a valid client certificate): name one with `sslcert` and `sslkey` in `database_url`
    no TLS: TLS with PostgreSQL at DIRECTORY:PORT failed (server does not support TLS): correct TLS at the server, or `sslmode` and `sslrootcert` in `database_url`
    no right to connect: PostgreSQL at DIRECTORY:PORT refuses the role able (permission denied for database "private"): grant it what it lacks
    no right to create: the role able may not make tables in the schema public of postgres: `grant create on schema public to able`
    no schema: the role lost has no schema to make tables in on the database postgres: create one that its search path names, and let lost own it
    no right to write: the role unable may not read and write messages, wallets in the schema theirs of postgres: `grant select, insert, update, delete on all tables in schema theirs to unable`
    read-only: PostgreSQL at DIRECTORY:PORT lets the role reader only read: turn `default_transaction_read_only` off, for the role, the database and the server
    not durable: PostgreSQL at DIRECTORY:PORT has `synchronous_commit` off, and a crash could lose what was accepted: turn it on, for the role, the database and the server
    full: PostgreSQL at DIRECTORY:PORT has no connection left (too many connections for role "crowded"): raise that limit, or lower `database_connections`
    newer: the database was made by a newer release of ogene (schema 9999, this one knows KNOWN): start the newer release again
    "#);
}

#[test]
fn a_role_needs_only_a_schema_and_tls_works_on_demand() {
    testkit::needs!(PostgresPrograms);
    let (server, port) = Postgres::start_with_tls(RULES);
    let admin = server.url("ogene", "postgres", port);
    sql(&admin, FAULTS);
    let authority = server.certificate().display().to_string();
    let url = format!(
        "postgres://able@127.0.0.1:{port}/postgres?sslmode=verify-full&sslrootcert={authority}"
    );
    let ogene = Installation::on(&within(&url, "ours"));
    let migrated = ogene.json(&["migrate"]);
    assert_eq!(
        migrated,
        serde_json::json!({"database": "postgres", "host": "127.0.0.1", "up_to_date": true})
    );
    // A trigger records the settings of the connection that writes an account.
    sql(
        &within(&admin, "ours"),
        "create table seen (setting text, value text);
         grant insert on seen to able;
         create function look() returns trigger language plpgsql as $$ begin
             insert into seen select name, current_setting(name) from unnest(array['application_name',
                 'default_transaction_isolation', 'idle_in_transaction_session_timeout', 'lock_timeout', 'tcp_keepalives_idle', 'tcp_keepalives_interval',
                 'tcp_keepalives_count']) name;
             insert into seen select 'tls', ssl from pg_stat_ssl where pid = pg_backend_pid();
             return new;
         end $$;
         create trigger look before insert on accounts for each row execute function look()",
    );
    ogene.json(&AN_ACCOUNT);
    let seen = sql(&within(&admin, "ours"), "select * from seen");
    insta::assert_snapshot!(seen, @r"
    application_name|ogene
    default_transaction_isolation|read committed
    idle_in_transaction_session_timeout|2s
    lock_timeout|3s
    tcp_keepalives_idle|5
    tcp_keepalives_interval|2
    tcp_keepalives_count|3
    tls|true
    ");
}

#[test]
fn an_address_of_ip_version_6_is_connected_to_as_it_stands() {
    let fault = fault_of("postgres://ogene@[::1]:1/postgres");
    let start = "PostgreSQL at [::1]:1 cannot be reached (";
    assert!(fault.starts_with(start), "{fault}");
    assert!(!fault.contains("lookup"), "{fault}");
}

#[test]
fn sslmode_require_with_an_authority_checks_the_authority() {
    testkit::needs!(PostgresPrograms);
    let (server, port) = Postgres::start_with_tls(RULES);
    let authority = server.certificate().display().to_string();
    let url = format!(
        "postgres://ogene@127.0.0.1:{port}/postgres?sslmode=require&sslrootcert={authority}"
    );
    let migrated = Installation::on(&url).json(&["migrate"]);
    assert_eq!(migrated["up_to_date"], true);
}

#[test]
fn a_role_without_create_serves_if_no_migration_is_due() {
    testkit::needs!(PostgresPrograms);
    let server = Postgres::start(&[]);
    let admin = server.url("ogene", "postgres", PORT);
    sql(
        &admin,
        "create role servant login; create schema served; grant usage on schema served to servant",
    );
    let url = within(&server.url("servant", "postgres", PORT), "served");
    let ogene = Installation::on(&url);
    let (code, sentence) = ogene.failure(&["migrate"]);
    assert_eq!(code, Some(1));
    let wanted = "`grant create on schema served to servant`";
    assert!(sentence.contains(wanted), "{sentence}");
    Installation::on(&within(&admin, "served")).json(&["migrate"]);
    let rights = "select, insert, update, delete on all tables";
    sql(
        &admin,
        &format!("grant {rights} in schema served to servant"),
    );
    assert_eq!(ogene.json(&["migrate"])["up_to_date"], true);
    ogene.json(&AN_ACCOUNT);
    let (mut process, _) = Process::serve(ogene.command(&["serve"]));
    process.signal("TERM");
    assert!(process.end().0.success());
}

#[test]
fn a_server_without_durability_and_a_standby_are_refused() {
    testkit::needs!(PostgresPrograms);
    let server = Postgres::start(&["fsync=off"]);
    let url = server.url("ogene", "postgres", PORT);
    let told = |fault: String| fault.replace(&server.path().display().to_string(), "DIRECTORY");
    insta::assert_snapshot!(told(fault_of(&url)), @"PostgreSQL at DIRECTORY:5432 has `fsync` off, and a crash could lose what was accepted: turn it on in its postgresql.conf");
    sql(&url, "alter system set fsync = on");
    sql(&url, "alter system set full_page_writes = off");
    server.restart();
    insta::assert_snapshot!(told(fault_of(&url)), @"PostgreSQL at DIRECTORY:5432 has `full_page_writes` off, and a crash could lose what was accepted: turn it on in its postgresql.conf");
    sql(&url, "alter system set full_page_writes = on");
    std::fs::write(server.path().join("data/standby.signal"), "").expect("written");
    server.restart();
    insta::assert_snapshot!(told(fault_of(&url)), @"PostgreSQL at DIRECTORY:5432 is a standby, where nothing can be written: name the primary in `database_url`");
}

/// The certificate has the form of `openssl req -x509`: psql trusts it if it is named, and so does
/// ogene.
#[test]
fn a_self_signed_certificate_in_sslrootcert_is_trusted() {
    testkit::needs!(PostgresPrograms);
    let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("parameters");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let (server, port) = Postgres::start_with_certificate(RULES, &params);
    let named = |file: &Path| {
        let host = format!("postgres://ogene@127.0.0.1:{port}/postgres");
        let file = file.display();
        ["verify-full", "verify-ca"].map(|mode| format!("{host}?sslmode={mode}&sslrootcert={file}"))
    };
    for url in named(&server.certificate()) {
        let ogene = Installation::on(&url);
        ogene.json(&["migrate"]);
        ogene.json(&AN_ACCOUNT);
        let (mut serving, _) = Process::serve(ogene.command(&["serve"]));
        let tls = "select bool_and(ssl) from pg_stat_activity join pg_stat_ssl using (pid)
             where application_name = 'ogene'";
        assert_eq!(sql(&server.url("ogene", "postgres", port), tls).trim(), "t");
        serving.signal("TERM");
        assert!(serving.end().0.success());
    }
    // Another certificate with the same subject is not the named one.
    let other = server.path().join("other.pem");
    let key = KeyPair::generate().expect("a key");
    let made = params.self_signed(&key).expect("a certificate");
    fs::write(&other, made.pem()).expect("written");
    for url in named(&other) {
        let told = fault_of(&url);
        assert!(told.contains("TLS with PostgreSQL"), "{told}");
    }
}
