//! Facts about a PostgreSQL server, read before its schema is touched.

use super::remedy::{Diagnosis, OLDEST_MAJOR};
use sqlx::Row;
use sqlx::postgres::PgRow;

/// Facts about the server, which a connection reads before the schema is touched.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a separate fact of the server"
)]
pub(super) struct Facts {
    /// As in `15.4 (Debian …)`.
    pub(super) version: String,
    /// 150004 for 15.4.
    pub(super) version_number: i32,
    pub(super) encoding: String,
    pub(super) is_standby: bool,
    pub(super) is_read_only: bool,
    pub(super) synchronous_commit: String,
    pub(super) fsync: String,
    pub(super) full_page_writes: String,
    /// The schema in which tables are made.
    pub(super) schema: Option<String>,
    pub(super) may_create: bool,
    /// `true` if the table of migrations exists.
    pub(super) has_migrations: bool,
    /// Existing tables of Ogene that the role may not read or write.
    pub(super) barred: Vec<String>,
    /// `true` if a migration is due.
    pub(super) is_due: bool,
}

impl Facts {
    /// Reads the row of [`Self::SQL`].
    pub(super) fn read(row: &PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            version: row.try_get("version")?,
            version_number: row.try_get("version_number")?,
            encoding: row.try_get("encoding")?,
            is_standby: row.try_get("is_standby")?,
            is_read_only: row.try_get("is_read_only")?,
            synchronous_commit: row.try_get("synchronous_commit")?,
            fsync: row.try_get("fsync")?,
            full_page_writes: row.try_get("full_page_writes")?,
            schema: row.try_get("schema")?,
            may_create: row.try_get("may_create")?,
            has_migrations: row.try_get("has_migrations")?,
            barred: row.try_get("barred")?,
            is_due: false,
        })
    }

    pub(super) const SQL: &str = "select current_setting('server_version') as version,
            cast(current_setting('server_version_num') as integer) as version_number,
            current_setting('server_encoding') as encoding,
            pg_is_in_recovery() as is_standby,
            current_setting('transaction_read_only') = 'on' as is_read_only,
            current_setting('synchronous_commit') as synchronous_commit,
            current_setting('fsync') as fsync,
            current_setting('full_page_writes') as full_page_writes,
            cast(current_schema() as text) as schema,
            coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create,
            to_regclass(quote_ident(current_schema()) || '._migrations') is not null
                as has_migrations,
            array(
                select name from unnest($1) as ours (name)
                join pg_class on pg_class.relname = name
                    and pg_class.relnamespace = to_regnamespace(quote_ident(current_schema()))
                where not (
                    has_table_privilege(pg_class.oid, 'select')
                    and has_table_privilege(pg_class.oid, 'insert')
                    and has_table_privilege(pg_class.oid, 'update')
                    and has_table_privilege(pg_class.oid, 'delete'))
                order by name
            ) as barred";

    /// Returns the first fault that keeps Ogene from using the server.
    pub(super) fn fault(self) -> Option<Diagnosis> {
        let off = [
            ("synchronous_commit", self.synchronous_commit),
            ("fsync", self.fsync),
            ("full_page_writes", self.full_page_writes),
        ];
        let off = off.into_iter().find(|(_, value)| value == "off");
        if self.version_number / 10_000 < OLDEST_MAJOR {
            return Some(Diagnosis::TooOld(self.version));
        }
        if self.encoding != "UTF8" {
            return Some(Diagnosis::Encoding(self.encoding));
        }
        if self.is_standby {
            return Some(Diagnosis::Standby);
        }
        if self.is_read_only {
            return Some(Diagnosis::ReadOnly);
        }
        if let Some((setting, _)) = off {
            return Some(Diagnosis::NotDurable(setting));
        }
        let Some(schema) = self.schema else {
            return Some(Diagnosis::NoSchema);
        };
        if !self.barred.is_empty() {
            let tables = self.barred;
            return Some(Diagnosis::MayNotWrite { schema, tables });
        }
        (self.is_due && !self.may_create).then_some(Diagnosis::MayNotCreate { schema })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Facts {
        let on = || "on".to_owned();
        Facts {
            version: "15.4".to_owned(),
            version_number: 150_004,
            encoding: "UTF8".to_owned(),
            is_standby: false,
            is_read_only: false,
            synchronous_commit: on(),
            fsync: on(),
            full_page_writes: on(),
            schema: Some("public".to_owned()),
            may_create: true,
            has_migrations: true,
            barred: Vec::new(),
            is_due: true,
        }
    }

    #[test]
    fn only_a_due_migration_needs_the_right_to_create() {
        for (is_due, may_create, is_fault) in [
            (true, false, true),
            (true, true, false),
            (false, false, false),
        ] {
            let facts = Facts {
                may_create,
                is_due,
                ..good()
            };
            let schema = "public".to_owned();
            let fault = is_fault.then_some(Diagnosis::MayNotCreate { schema });
            assert_eq!(facts.fault(), fault, "due: {is_due}, may: {may_create}");
        }
    }

    #[test]
    fn a_server_older_than_15_is_refused() {
        let table = [
            (90_624, "9.6.24", true),
            (140_022, "14.22", true),
            (150_000, "15.0", false),
            (180_001, "18.1", false),
        ];
        for (version_number, version, is_old) in table {
            let facts = Facts {
                version: version.to_owned(),
                version_number,
                ..good()
            };
            let fault = is_old.then(|| Diagnosis::TooOld(version.to_owned()));
            assert_eq!(facts.fault(), fault, "{version}");
        }
    }

    #[test]
    fn commits_that_wait_for_the_disk_are_enough() {
        for (value, fault) in [
            ("on", None),
            ("local", None),
            ("remote_write", None),
            ("remote_apply", None),
            ("off", Some(Diagnosis::NotDurable("synchronous_commit"))),
        ] {
            let synchronous_commit = value.to_owned();
            let facts = Facts {
                synchronous_commit,
                ..good()
            };
            assert_eq!(facts.fault(), fault, "{value}");
        }
    }
}
