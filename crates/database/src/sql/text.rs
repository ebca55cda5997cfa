//! The texts of statements over many rows.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// How rows are written.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Rows {
    /// SQLite: a `?` for each value. It keeps numbered ones as names and looks through all of them at every
    /// bind, which took half of all time with a thousand of them.
    Values,
    /// PostgreSQL: each column is one array.
    Arrays,
    /// PostgreSQL, where whole keys are taken out of a queue: alternatives, each of which it finds by the key.
    /// Beside arrays it goes through all of a queue that it takes for empty, which took seconds; here it
    /// has no other way.
    Alternatives,
    /// SQLite: a statement for each row, and what it changed is counted, not returned (decision 0030).
    Each,
}

/// How many rows a statement on SQLite has: few lengths, so that prepared forms are found again, and so many
/// that three statements do for up to 128 rows. The most is far below its limit of 32,766 bound values. With 256
/// it planned joins in updates as scans of the table; the test of plans looks at statements of 128.
const LENGTHS: [usize; 18] = [
    128, 96, 64, 48, 32, 24, 20, 16, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1,
];
/// How many alternatives a statement has: up to 64.
const FEWER: &[usize] = LENGTHS.split_at(2).1;
/// Most rows in one statement on PostgreSQL: a statement is one step of a connection, and must not be a long
/// one.
const MOST_ARRAYS: usize = 1_024;

/// Cuts rows into chunks, one for each statement.
pub fn chunks<T>(mut rows: &[T], how: Rows) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let length = match how {
            _ if rows.is_empty() => return None,
            Rows::Values => *LENGTHS.iter().find(|length| **length <= rows.len())?,
            Rows::Alternatives => *FEWER.iter().find(|length| **length <= rows.len())?,
            Rows::Arrays => rows.len().min(MOST_ARRAYS),
            Rows::Each => 1,
        };
        let (chunk, rest) = rows.split_at(length);
        rows = rest;
        Some(chunk)
    })
}

impl Rows {
    /// How PostgreSQL takes the rows of a statement, as its text marks them.
    pub fn on_postgres(sql: &str) -> Self {
        if sql.contains(KEYS) {
            Self::Alternatives
        } else {
            Self::Arrays
        }
    }
}

/// Where rows stand in a text.
const ROWS: &str = "values {rows}";
/// Where they are whole keys that PostgreSQL is to find one by one, behind `(columns) in (`.
const KEYS: &str = "values {keys}";

/// What follows tells of what was changed.
const RETURNING: &str = "returning ";

/// The text in which `values {rows}` or `values {keys}` stands for so many rows of so many columns, and `{1}`
/// to `{4}` for what is bound behind them, which must stand behind the rows in a text of [`Rows::Values`] too. Each text is
/// written once.
pub fn with_rows(sql: &str, rows: usize, columns: usize, how: Rows) -> Arc<str> {
    type Texts = HashMap<(Rows, usize), HashMap<Box<str>, Arc<str>>>;
    static TEXTS: LazyLock<RwLock<Texts>> = LazyLock::new(RwLock::default);
    // All texts over several rows of arrays are the same.
    let key = match how {
        Rows::Values | Rows::Alternatives | Rows::Each => (how, rows),
        Rows::Arrays => (how, rows.min(2)),
    };
    let known = TEXTS.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = known.get(&key).and_then(|texts| texts.get(sql)) {
        return Arc::clone(text);
    }
    drop(known);
    let text: Arc<str> = write(sql, key.1, columns, how).into();
    let mut known = TEXTS.write().unwrap_or_else(PoisonError::into_inner);
    let texts = known.entry(key).or_default();
    texts.insert(sql.into(), Arc::clone(&text));
    text
}

fn write(sql: &str, rows: usize, columns: usize, how: Rows) -> String {
    debug_assert!(
        how != Rows::Values
            || sql
                .find("{1}")
                .is_none_or(|first| Some(first) > sql.find(ROWS).or(sql.find(KEYS))),
        "{sql}"
    );
    let numbers = (1..=columns).map(|number| format!("${number}"));
    let numbers = numbers.collect::<Vec<_>>().join(",");
    let (mut text, bound, sign) = match (how, rows) {
        (Rows::Values, _) => {
            let row = format!("({})", vec!["?"; columns].join(","));
            let all = format!("values {}", vec![row.as_str(); rows].join(","));
            (
                sql.replace(ROWS, &all).replace(KEYS, &all),
                rows * columns,
                '?',
            )
        }
        (Rows::Arrays, 1) => {
            let row = format!("values ({numbers})");
            (sql.replace(ROWS, &row), columns, '$')
        }
        (Rows::Arrays, _) => {
            let all = format!("select * from unnest({numbers})");
            (sql.replace(ROWS, &all), columns, '$')
        }
        (Rows::Alternatives, _) => (alternatives(sql, rows, columns), rows * columns, '$'),
        (Rows::Each, _) => (each(sql, columns).replace('$', "?"), columns, '?'),
    };
    for after in 1..=4 {
        let place = format!("{sign}{}", bound + after);
        text = text.replace(&format!("{{{after}}}"), &place);
    }
    text
}

/// The text for one row, which returns nothing: `(a, b) in (values {rows})` as `(a=$1 and b=$2)`, or `values {rows}`
/// as `values ($1,$2)`. Of an update from such rows they become what it sets and finds.
fn each(sql: &str, columns: usize) -> String {
    let (sql, _) = sql.split_once(RETURNING).unwrap_or((sql, ""));
    if let Some(text) = update_of_one(sql) {
        return text;
    }
    let keys = format!("in ({ROWS})");
    if sql.contains(&keys) || sql.contains(KEYS) {
        alternatives(&sql.replace(ROWS, KEYS), 1, columns)
    } else {
        write(sql, 1, columns, Rows::Arrays)
    }
}

/// `with v (a, b) as (values {rows}) update t set c = v.a from v where t.d = v.b` as `update t set c = $1 where t.d = $2`.
fn update_of_one(sql: &str) -> Option<String> {
    let (names, update) = sql.split_once(&format!(") as ({ROWS})"))?;
    let names = names.strip_prefix("with v (")?.split(',').map(str::trim);
    let (set, condition) = update.split_once("from v where")?;
    let mut parts = [set, "where", condition].concat();
    // The longest first: one may be the start of another.
    let mut numbered: Vec<(usize, &str)> = (1..).zip(names).collect();
    numbered.sort_by_key(|(_, name)| std::cmp::Reverse(name.len()));
    for (number, name) in numbered {
        parts = parts.replace(&format!("v.{name}"), &format!("${number}"));
    }
    Some(parts.trim_start().to_owned())
}

/// `(a, b) in (values {keys})` as `(a=$1 and b=$2 or a=$3 and b=$4)`.
fn alternatives(sql: &str, rows: usize, columns: usize) -> String {
    let mark = format!(") in ({KEYS})");
    let (before, after) = sql.split_once(&mark).unwrap_or((sql, ""));
    let (before, names) = before.rsplit_once('(').unwrap_or((before, ""));
    let key = |row: usize| -> String {
        let names = (row * columns + 1..).zip(names.split(','));
        let parts = names.map(|(number, name)| format!("{}=${number}", name.trim()));
        parts.collect::<Vec<_>>().join(" and ")
    };
    let keys: Vec<String> = (0..rows).map(key).collect();
    format!("{before}({}){after}", keys.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_have_few_lengths_and_lose_no_row() {
        let rows: Vec<_> = (0..1_100).collect();
        for (how, some, expected) in [
            (Rows::Values, 300, vec![128, 128, 32, 12]),
            (Rows::Values, 127, vec![96, 24, 7]),
            (Rows::Arrays, 300, vec![300]),
            (Rows::Arrays, 1_100, vec![1_024, 76]),
            (Rows::Alternatives, 100, vec![64, 32, 4]),
            (Rows::Values, 0, vec![]),
            (Rows::Arrays, 0, vec![]),
        ] {
            let rows = &rows[..some];
            let lengths: Vec<_> = chunks(rows, how).map(<[i32]>::len).collect();
            assert_eq!(lengths, expected);
            assert_eq!(
                chunks(rows, how).flatten().copied().collect::<Vec<_>>(),
                rows
            );
        }
    }

    #[test]
    fn rows_become_placeholders_and_what_follows_counts_on() {
        let sql = "insert into t values {rows} where x < {1} or y = {2}";
        for (rows, how, expected) in [
            (
                2,
                Rows::Values,
                "insert into t values (?,?),(?,?) where x < ?5 or y = ?6",
            ),
            (
                1,
                Rows::Arrays,
                "insert into t values ($1,$2) where x < $3 or y = $4",
            ),
            (
                9,
                Rows::Arrays,
                "insert into t select * from unnest($1,$2) where x < $3 or y = $4",
            ),
        ] {
            for _ in 0..2 {
                assert_eq!(&*with_rows(sql, rows, 2, how), expected);
            }
        }
    }

    #[test]
    fn one_statement_for_each_key_returns_nothing() {
        let sql = "update t set c = {1} where (a, b) in (values {rows}) and d = {2} returning a, b";
        assert_eq!(
            &*with_rows(sql, 1, 2, Rows::Each),
            "update t set c = ?3 where (a=?1 and b=?2) and d = ?4 "
        );
        let sql = "with v (a, b, a2) as (values {rows})
             update t set c = c + v.a2 from v where t.a = v.a and t.b = v.b returning t.a";
        assert_eq!(
            &*with_rows(sql, 1, 3, Rows::Each),
            "update t set c = c + ?3 where t.a = ?1 and t.b = ?2 "
        );
        let sql = "insert into t values {rows} on conflict do nothing returning a, b";
        assert_eq!(
            &*with_rows(sql, 1, 2, Rows::Each),
            "insert into t values (?1,?2) on conflict do nothing "
        );
    }

    #[test]
    fn alternatives_name_each_key_whole() {
        let sql = "delete from t where (a, b) in (values {keys}) and c = {1}";
        assert_eq!(
            &*with_rows(sql, 2, 2, Rows::on_postgres(sql)),
            "delete from t where (a=$1 and b=$2 or a=$3 and b=$4) and c = $5"
        );
        assert_eq!(
            &*with_rows(sql, 2, 2, Rows::Values),
            "delete from t where (a, b) in (values (?,?),(?,?)) and c = ?5"
        );
    }
}
