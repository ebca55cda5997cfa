//! Both migrations make the same schema.

use store::Store;
use storekit::Kit;

/// Returns a line for each column, key, index and condition of a schema, in the same words on both
/// databases.
async fn lines(kit: &Kit) -> Vec<String> {
    let queries = if kit.is_sqlite() { SQLITE } else { POSTGRES };
    let mut lines = Vec::new();
    for query in queries {
        lines.extend(kit.texts(query).await);
    }
    let checks = kit.texts(if kit.is_sqlite() {
        "select name || ' ' || sql from sqlite_schema where type = 'table'"
    } else {
        "select conrelid::regclass || ' check (' || pg_get_expr(conbin, conrelid) || ')'
         from pg_constraint where contype = 'c' and connamespace = current_schema()::regnamespace"
    });
    lines.extend(checks.await.iter().flat_map(|table| conditions(table)));
    let mut lines: Vec<String> = lines.iter().map(|line| plain(line)).collect();
    lines.sort();
    lines
}

/// Columns, indexes (those of keys too) and references.
const SQLITE: [&str; 3] = [
    "select t.name || '.' || c.name || ' ' || lower(c.type)
         || case when c.\"notnull\" then ' not null' else '' end
         || coalesce(' default ' || c.dflt_value, '')
     from sqlite_schema t join pragma_table_info(t.name) c
     where t.type = 'table' and t.name not like '\\_%' escape '\\'
         and t.name not like 'sqlite\\_%' escape '\\'",
    "select t.name || case i.origin when 'c' then ' index ' || i.name
             when 'pk' then ' primary key' else ' constraint' end
         || case when i.\"unique\" then ' unique' else '' end
         || ' (' || (select group_concat(name, ', ')
             from (select name from pragma_index_info(i.name) order by seqno)) || ')'
         || coalesce((select ' where ' || substr(sql, instr(sql, ' where ') + 7)
             from sqlite_schema where name = i.name and sql like '% where %'), '')
     from sqlite_schema t join pragma_index_list(t.name) i
     where t.type = 'table' and t.name not like '\\_%' escape '\\'",
    "select t.name || '.' || r.\"from\" || ' references ' || r.\"table\" || '.' || r.\"to\"
     from sqlite_schema t join pragma_foreign_key_list(t.name) r where t.type = 'table'",
];
const POSTGRES: [&str; 3] = [
    "select table_name || '.' || column_name || ' ' || data_type
         || case when is_nullable = 'NO' then ' not null' else '' end
         || coalesce(' default ' || column_default, '')
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = current_schema() and table_name not like '\\_%' and table_type = 'BASE TABLE'",
    "select t.relname || case when x.indisprimary then ' primary key'
             when exists (select 1 from pg_constraint where conindid = i.oid) then ' constraint'
             else ' index ' || i.relname end
         || case when x.indisunique then ' unique' else '' end
         || ' (' || (select string_agg(attname, ', ' order by at)
             from unnest(x.indkey) with ordinality key (number, at)
             join pg_attribute on attrelid = t.oid and attnum = number) || ')'
         || coalesce(' where ' || pg_get_expr(x.indpred, t.oid), '')
     from pg_index x join pg_class t on t.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
     where t.relnamespace = current_schema()::regnamespace and t.relname not like '\\_%'",
    "select conrelid::regclass || '.' || a.attname || ' references ' || confrelid::regclass || '.'
         || b.attname
     from pg_constraint cross join unnest(conkey, confkey) pair (this, that)
     join pg_attribute a on a.attrelid = conrelid and a.attnum = this
     join pg_attribute b on b.attrelid = confrelid and b.attnum = that
     where contype = 'f' and connamespace = current_schema()::regnamespace",
];

/// Returns the conditions in the text of a table that begins with its name.
fn conditions(table: &str) -> Vec<String> {
    let name = table.split(' ').next().unwrap_or_default();
    let (mut found, mut rest) = (Vec::new(), table);
    while let Some((_, after)) = rest.split_once("check (") {
        let mut open = 1;
        let end = after.find(|sign| {
            open += i32::from(sign == '(') - i32::from(sign == ')');
            open == 0
        });
        let (condition, behind) = after.split_at(end.unwrap_or(after.len()));
        found.push(format!("{name} check {condition}"));
        rest = behind;
    }
    found
}

/// Returns a line without the parts that each database writes in its own way: types of values,
/// brackets and case of conditions.
fn plain(line: &str) -> String {
    let line = line
        .replace("bytea", "blob")
        .replace("::text", "")
        .replace("::bigint", "")
        .replace(" smallint", " bigint")
        .replace(" integer", " bigint")
        .replace("IS NOT NULL", "is not null");
    let bare = |text: &str| text.replace(['(', ')'], "");
    for word in [" where ", " check "] {
        if let Some((before, condition)) = line.split_once(word) {
            return format!("{before}{word}{}", bare(condition));
        }
    }
    line
}

/// The keys of duplicate windows, which each database finds in its own way (decision 0017), and
/// that of the ledger. PostgreSQL leaves space before a wide column (decision 0020), and SQLite
/// groups the entries of a charge (0029).
const OF_SQLITE: &[&str] = &[
    "ledger primary key unique (bucket, subject, account_id, recipient, kind, component)",
    "recent_sends primary key unique (bucket, expires_at_ms, fingerprint)",
];
const OF_POSTGRES: &[&str] = &[
    "ledger primary key unique (bucket, account_id, subject, kind, recipient, component)",
    "recent_sends index recent_sends_by_end (bucket, expires_at_ms)",
    "recent_sends primary key unique (bucket, fingerprint)",
];

#[tokio::test]
async fn both_migration_folders_make_the_same_schema() {
    testkit::needs!(Postgres);
    let (sqlite, postgres) = (Kit::sqlite().await, Kit::postgres().await);
    let (mut ours, mut theirs) = (lines(&sqlite).await, lines(&postgres).await);
    for (lines, own) in [(&mut ours, OF_SQLITE), (&mut theirs, OF_POSTGRES)] {
        for line in own {
            let at = lines.iter().position(|other| other == line);
            lines.remove(at.unwrap_or_else(|| panic!("no {line}")));
        }
    }
    assert_eq!(ours, theirs);
    let count = |what: &str| ours.iter().filter(|line| line.contains(what)).count();
    assert!(count(".") > 80, "columns");
    assert!(count(" primary key ") >= 13);
    assert!(count(" index ") >= 2);
    assert!(count(" constraint ") >= 1);
    assert!(count(" references ") >= 2);
    assert!(count(" check ") >= 6);
    sqlite.finish().await;
    postgres.finish().await;
}

storekit::twins!(
    whatever_differs_in_a_schema_shows,
    a_database_of_a_newer_release_is_refused
);

/// Without rows both would be equal.
async fn whatever_differs_in_a_schema_shows(kit: &Kit) {
    let mut before = lines(kit).await;
    for change in [
        "create table more (name text not null primary key)",
        "alter table more add column value bigint",
        "alter table more add column sign bigint not null default 1",
        "alter table more add column account_id bigint references accounts (account_id)",
        "alter table more add column price bigint check (price > 0)",
        "create index more_by_value on more (value)",
        "create unique index more_by_sign on more (sign, value) where value > 1",
        "drop index more_by_value",
        "create index more_by_value on more (sign)",
        "drop table more",
        "create table more (name text not null, value bigint not null, primary key (value, name))",
    ] {
        kit.plant(change).await;
        let after = lines(kit).await;
        assert_ne!(before, after, "{change}");
        before = after;
    }
}

async fn a_database_of_a_newer_release_is_refused(kit: &Kit) {
    let checksum = if kit.is_sqlite() {
        "x'00'"
    } else {
        "'\\x00'::bytea"
    };
    kit.plant(&format!(
        "insert into _migrations (version, name, checksum)
         values (9999, 'of the future', {checksum})"
    ))
    .await;
    let Err(error) = Store::open(&kit.target).await else {
        panic!("it was opened");
    };
    let sentence = error.to_string();
    assert!(
        sentence.contains("newer release of ogene (schema 9999"),
        "{sentence}"
    );
}
