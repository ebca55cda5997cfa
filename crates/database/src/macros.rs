//! Macros for statements and rows.

/// A statement that locks rows. On PostgreSQL the clause after the semicolon is added. SQLite has
/// one writer and needs no locks.
#[macro_export]
macro_rules! locking {
    ($text:expr; $lock:literal) => {
        $crate::Sql {
            sqlite: $text,
            postgres: concat!($text, " ", $lock),
        }
    };
}

/// Reads a struct from a row: each field from the column of its name. The column at the field's
/// place is checked first.
#[macro_export]
macro_rules! from_row {
    ($type:ident { $($field:ident),+ $(,)? }) => {
        impl $crate::FromRow for $type {
            fn from_row(row: &$crate::Row<'_>) -> $crate::Result<Self> {
                let mut places = 0..;
                let mut place = |name| row.place(name, places.next().unwrap_or_default());
                Ok(Self { $($field: row.get(place(stringify!($field))?)?),+ })
            }
        }
    };
}
