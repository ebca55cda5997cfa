//! The two migration folders make the same tables.

use super::kit::Kit;
use store::Store;

/// Table, column and type, with one word for what the databases name differently.
async fn columns(kit: &Kit) -> Vec<String> {
    let sql = if kit.is_sqlite() {
        "select t.name || '.' || c.name || ' ' || lower(c.type) || case when c.\"notnull\" then ' not null' else '' end
         from sqlite_schema t join pragma_table_info(t.name) c
         where t.type = 'table' and t.name not like '\\_%' escape '\\' and t.name not like 'sqlite\\_%' escape '\\'"
    } else {
        "select table_name || '.' || column_name || ' ' || data_type
             || case when is_nullable = 'NO' then ' not null' else '' end
         from information_schema.columns
         where table_schema = current_schema() and table_name not like '\\_%'"
    };
    let mut columns: Vec<String> = kit
        .texts(sql)
        .await
        .iter()
        .map(|column| column.replace("bytea", "blob"))
        .collect();
    columns.sort();
    columns
}

/// Names of indexes that the migrations name, and whether they are unique or partial.
async fn indexes(kit: &Kit) -> Vec<String> {
    let sql = if kit.is_sqlite() {
        "select tbl_name || '.' || name || case when sql like '%unique index%' then ' unique' else '' end
             || case when sql like '%where%' then ' partial' else '' end
         from sqlite_schema where type = 'index' and sql is not null"
    } else {
        "select tablename || '.' || indexname || case when indexdef like '%UNIQUE%' then ' unique' else '' end
             || case when indexdef like '%WHERE%' then ' partial' else '' end
         from pg_indexes where schemaname = current_schema()
             and indexname not like '%\\_pkey' and indexname not like '%\\_key'"
    };
    let mut indexes = kit.texts(sql).await;
    indexes.sort();
    indexes
}

#[tokio::test]
#[ignore = "needs ./test's PostgreSQL"]
async fn both_migration_folders_make_the_same_tables_columns_and_indexes() {
    let (sqlite, postgres) = (Kit::sqlite().await, Kit::postgres().await);
    assert_eq!(columns(&sqlite).await, columns(&postgres).await);
    assert!(columns(&sqlite).await.len() > 80);
    assert_eq!(indexes(&sqlite).await, indexes(&postgres).await);
    sqlite.finish().await;
    postgres.finish().await;
}

super::kit::twins!(a_database_of_a_newer_release_is_refused);

async fn a_database_of_a_newer_release_is_refused(kit: &Kit) {
    let checksum = if kit.is_sqlite() {
        "x'00'"
    } else {
        "'\\x00'::bytea"
    };
    kit.plant(&format!(
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
         values (9999, 'of the future', true, {checksum}, 0)"
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
