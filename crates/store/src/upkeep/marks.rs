//! Marks: named numbers, such as the progress of sweeps.

use database::{Result, Tx, bulk, query, value};

/// Lowers these marks if they are higher than this.
pub(crate) async fn lower_marks(tx: &mut Tx, names: &[String], to: i64) -> Result<()> {
    tx.execute_each(
        bulk(
            "update marks set value = $2
         where marks.name = $1 and marks.value > $2",
            "with v (name) as (select * from unnest($1::text[]))
         update marks set value = $2 from v where marks.name = v.name and marks.value > $2",
        )
        .rows(names, |name| [value(name)])
        .bind(to),
    )
    .await?;
    Ok(())
}

/// Returns the value of a mark, or zero.
pub(crate) async fn read_mark(tx: &mut Tx, name: &str) -> Result<i64> {
    let found: Option<i64> = tx
        .fetch_optional(query("select value from marks where name = $1").bind(name))
        .await?;
    Ok(found.unwrap_or(0))
}

/// Sets a mark.
pub(crate) async fn write_mark(tx: &mut Tx, name: &str, value: i64) -> Result<()> {
    tx.execute(
        query(
            "insert into marks (name, value) values ($1, $2)
         on conflict (name) do update set value = excluded.value",
        )
        .bind(name)
        .bind(value),
    )
    .await?;
    Ok(())
}
