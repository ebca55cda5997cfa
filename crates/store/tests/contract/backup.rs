//! Backups of an embedded database, and restores of them.

use database::{Error, Target, TestConnection};
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use store::{BackupError, Store};
use storekit::{CARRIER, DAY, Fate, Kit, NOW, sending};
use tempfile::TempDir;

/// The directories of a test's backups and restores.
struct Shelf(TempDir);

impl Shelf {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn backup(&self) -> PathBuf {
        self.0.path().join("backup.db")
    }

    fn directory(&self) -> PathBuf {
        self.0.path().join("restored")
    }

    /// Returns the files of a directory, without the locks.
    fn files(&self) -> Vec<String> {
        let directories = [self.0.path().to_owned(), self.directory()];
        let entries = directories
            .iter()
            .filter_map(|path| fs::read_dir(path).ok());
        let mut names: Vec<String> = entries
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "opening.lock" && name != "restored")
            .collect();
        names.sort();
        names
    }

    async fn restore(&self) -> Result<store::Verification, BackupError> {
        store::restore(&self.backup(), &self.directory()).await
    }
}

/// Changes a file without the store.
async fn change(file: &Path, sql: &str) {
    let mut shell = TestConnection::sqlite(file).unwrap();
    shell.run(sql).await.unwrap();
}

/// Returns every row of every table.
async fn contents_of(file: &Path) -> Vec<String> {
    let mut shell = TestConnection::sqlite(file).unwrap();
    let mut all = Vec::new();
    let tables = "select name from sqlite_schema where type = 'table' order by name";
    for table in shell.column::<String>(tables).await.unwrap() {
        let columns = format!(
            "select group_concat('quote(' || name || ')', ' || ') from pragma_table_info('{table}')"
        );
        let columns: String = shell.column(&columns).await.unwrap().remove(0);
        let rows = format!("select '{table} ' || {columns} from {table} order by 1");
        all.extend(shell.column::<String>(&rows).await.unwrap());
    }
    all
}

/// A database with messages of every kind.
async fn kit() -> Kit {
    let kit = Kit::sqlite().await;
    let account = kit.account(20_000).await;
    for fate in Fate::ALL {
        fate.of(&kit, account, NOW - DAY).await;
    }
    kit
}

#[tokio::test]
async fn a_backup_and_its_restore_show_one_moment() {
    let (kit, shelf) = (kit().await, Shelf::new());
    let before = contents_of(&kit.data_dir().join("ogene.db")).await;
    let written = kit.store.upkeep().backup(&shelf.backup()).await.unwrap();
    let account = kit.account(100).await;
    kit.accept(&sending(account).message(&kit.store)).await;

    assert_eq!(shelf.files(), ["backup.db"]);
    let mode = fs::metadata(shelf.backup()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(usize::try_from(written.messages).unwrap(), Fate::ALL.len());
    assert_eq!(contents_of(&shelf.backup()).await, before);

    assert_eq!(shelf.restore().await.unwrap(), written);
    assert_eq!(shelf.files(), ["backup.db", "ogene.db"]);
    let restored = shelf.directory().join("ogene.db");
    assert_eq!(contents_of(&restored).await, before);
    let store = Store::open(&Target::Directory(shelf.directory()))
        .await
        .unwrap();
    assert_eq!(store.upkeep().verify().await.unwrap(), written);
    let mut orphans = 0;
    for bucket in store.buckets() {
        orphans += store.queues().orphans(CARRIER, bucket).await.unwrap().len();
    }
    assert!(orphans > 0, "what was in hand is found as after a crash");
    store.close().await;
    kit.finish().await;
}

#[tokio::test]
async fn a_backup_needs_no_turn_of_the_writer() {
    let (kit, shelf) = (kit().await, Shelf::new());
    let mut writer = kit.test_connection().await;
    let begun = "begin immediate; insert into marks values ('begun', 1)";
    writer.run(begun).await.unwrap();
    kit.store.upkeep().backup(&shelf.backup()).await.unwrap();
    writer.run("commit").await.unwrap();
    let contents = contents_of(&shelf.backup()).await;
    assert!(!contents.iter().any(|row| row.contains("begun")));
    kit.finish().await;
}

#[tokio::test]
async fn nothing_is_overwritten() {
    let (kit, shelf) = (kit().await, Shelf::new());
    kit.store.upkeep().backup(&shelf.backup()).await.unwrap();
    let before = contents_of(&shelf.backup()).await;
    let again = kit.store.upkeep().backup(&shelf.backup()).await;
    assert!(matches!(again, Err(BackupError::Exists(_))), "{again:?}");
    assert_eq!(contents_of(&shelf.backup()).await, before);
    fs::create_dir(shelf.directory()).unwrap();
    for name in [
        "ogene.db",
        "ogene.db-wal",
        "ogene.db-shm",
        "ogene.db-journal",
    ] {
        let there = shelf.directory().join(name);
        fs::write(&there, "kept").unwrap();
        let refused = shelf.restore().await;
        assert!(
            matches!(refused, Err(BackupError::Exists(path)) if path == there.display().to_string())
        );
        assert_eq!(fs::read(&there).unwrap(), b"kept");
        assert_eq!(shelf.files(), ["backup.db", name]);
        fs::remove_file(there).unwrap();
    }
    shelf.restore().await.unwrap();
    kit.finish().await;
}

#[tokio::test]
async fn a_killed_backup_is_resumed_and_a_running_one_is_not() {
    let (kit, shelf) = (kit().await, Shelf::new());
    fs::create_dir(shelf.directory()).unwrap();
    let database = shelf.directory().join("ogene.db");
    for path in [shelf.backup(), database.clone()] {
        let path = path.display();
        fs::write(format!("{path}.partial"), vec![7; 100_000]).unwrap();
        fs::write(format!("{path}.partial-journal"), vec![7; 10_000]).unwrap();
    }
    let other = File::open(shelf.0.path().join("backup.db.partial")).unwrap();
    other.lock().unwrap();
    let busy = kit.store.upkeep().backup(&shelf.backup()).await;
    assert!(matches!(busy, Err(BackupError::Busy(_))), "{busy:?}");
    assert!(shelf.files().contains(&"backup.db.partial".to_owned()));
    drop(other);
    kit.store.upkeep().backup(&shelf.backup()).await.unwrap();
    shelf.restore().await.unwrap();
    assert_eq!(shelf.files(), ["backup.db", "ogene.db"]);
    let before = contents_of(&kit.data_dir().join("ogene.db")).await;
    assert_eq!(contents_of(&database).await, before);
    kit.finish().await;
}

#[tokio::test]
async fn a_foreign_newer_or_broken_backup_is_refused_cleanly() {
    let (kit, shelf) = (kit().await, Shelf::new());
    let file = shelf.backup();
    let refused = async || {
        let refused = shelf.restore().await.unwrap_err();
        assert!(
            !shelf
                .files()
                .iter()
                .any(|name| name.starts_with("ogene.db"))
        );
        refused
    };
    for text in ["", "no database at all, but longer than any head of one"] {
        fs::write(&file, text).unwrap();
        assert!(matches!(refused().await, BackupError::Foreign));
    }
    for others in [
        "create table accounts (account_id bigint)",
        "create table _migrations (version bigint primary key, checksum blob);
         insert into _migrations values (1, x'00')",
    ] {
        fs::remove_file(&file).unwrap();
        change(&file, others).await;
        assert!(matches!(refused().await, BackupError::Foreign));
    }
    fs::remove_file(&file).unwrap();
    kit.store.upkeep().backup(&file).await.unwrap();
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    assert!(matches!(
        refused().await,
        BackupError::Store(Error::Database(_))
    ));
    fs::write(&file, &whole).unwrap();
    change(
        &file,
        "insert into _migrations (version, name, checksum)
         values (9999, 'of the future', x'')",
    )
    .await;
    let newer = refused().await;
    assert!(matches!(
        newer,
        BackupError::Store(Error::Newer { found: 9999, .. })
    ));
    kit.finish().await;
}

#[tokio::test]
async fn books_that_do_not_add_up_are_neither_backed_up_nor_restored() {
    const SPENT: &str = "update wallets set sms_wallet = sms_wallet - 1";
    let (kit, shelf) = (kit().await, Shelf::new());
    kit.store.upkeep().backup(&shelf.backup()).await.unwrap();
    change(&shelf.backup(), SPENT).await;
    let restored = shelf.restore().await;
    assert!(matches!(
        restored,
        Err(BackupError::Unsound { count: 1, .. })
    ));
    assert_eq!(shelf.files(), ["backup.db"]);
    fs::remove_file(shelf.backup()).unwrap();
    kit.plant(SPENT).await;
    let written = kit.store.upkeep().backup(&shelf.backup()).await;
    assert!(matches!(
        written,
        Err(BackupError::Unsound { count: 1, .. })
    ));
    assert_eq!(shelf.files(), Vec::<String>::new());
    kit.finish().await;
}

#[tokio::test]
async fn a_database_of_postgresql_is_not_backed_up_here() {
    testkit::needs!(Postgres);
    let (kit, shelf) = (Kit::postgres().await, Shelf::new());
    let refused = kit.store.upkeep().backup(&shelf.backup()).await;
    assert!(matches!(
        refused,
        Err(BackupError::Store(Error::Impossible(_)))
    ));
    assert_eq!(shelf.files(), Vec::<String>::new());
    kit.finish().await;
}

/// Returns mode and owner of each file of a directory.
fn kept(directory: &Path) -> Vec<(String, u32, u32)> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    let facts = entries.map(|entry| {
        let file = entry.metadata().unwrap();
        let name = entry.file_name().into_string().unwrap();
        (name, file.mode() & 0o777, file.uid())
    });
    let mut facts: Vec<_> = facts.collect();
    facts.sort();
    facts
}

/// The directory is one that all users may read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_files_are_read_by_their_owner_alone() {
    let directory = tempfile::tempdir().unwrap();
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(directory.path(), open).unwrap();
    let target = Target::Directory(directory.path().to_owned());
    let store = Store::open(&target).await.unwrap();
    let files = kept(directory.path());
    let names: Vec<&str> = files.iter().map(|(name, ..)| &**name).collect();
    assert_eq!(
        names,
        ["ogene.db", "ogene.db-shm", "ogene.db-wal", "opening.lock"]
    );
    assert!(files.iter().all(|(_, mode, _)| *mode == 0o600), "{files:?}");
    store.close().await;
}

#[test]
fn sqlite_has_a_directory_with_its_lock_before_it_is_opened() {
    let shelf = Shelf::new();
    for _ in 0..2 {
        Store::prepare(&shelf.directory(), "serving.lock").unwrap();
        let files = kept(&shelf.directory());
        let [(name, mode, _)] = &files[..] else {
            panic!("{files:?}")
        };
        assert_eq!((&**name, *mode), ("serving.lock", 0o600));
        let directory = fs::metadata(shelf.directory()).unwrap();
        assert_eq!(directory.mode() & 0o777, 0o700);
    }
}

/// Only root can make files for others, so another user tests nothing here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_files_made_by_root_belong_to_the_directory_owner() {
    const NOBODY: u32 = 65_534;
    let kit = Kit::sqlite().await;
    let shelf = Shelf::new();
    kit.store.upkeep().backup(&shelf.backup()).await.unwrap();
    kit.finish().await;
    let made = tempfile::tempdir().unwrap();
    fs::create_dir(shelf.directory()).unwrap();
    for directory in [&shelf.directory(), made.path()] {
        if chown(directory, Some(NOBODY), Some(NOBODY)).is_err() {
            return;
        }
    }
    shelf.restore().await.unwrap();
    for directory in [&shelf.directory(), made.path()] {
        let target = Target::Directory(directory.to_owned());
        let store = Store::open(&target).await.unwrap();
        let files = kept(directory);
        assert!(
            files.iter().all(|(.., owner)| *owner == NOBODY),
            "{files:?}"
        );
        store.close().await;
    }
}

#[tokio::test]
async fn a_backup_follows_no_link_at_its_partial_name() {
    let (kit, shelf) = (kit().await, Shelf::new());
    let victim = shelf.0.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let partial = shelf.0.path().join("backup.db.partial");
    std::os::unix::fs::symlink(&victim, &partial).unwrap();
    let refused = kit
        .store
        .upkeep()
        .backup(&shelf.backup())
        .await
        .unwrap_err();
    assert!(matches!(refused, BackupError::Exists(_)), "{refused:?}");
    fs::remove_file(&partial).unwrap();
    fs::hard_link(&victim, &partial).unwrap();
    let refused = kit
        .store
        .upkeep()
        .backup(&shelf.backup())
        .await
        .unwrap_err();
    assert!(matches!(refused, BackupError::Exists(_)), "{refused:?}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    kit.finish().await;
}

#[tokio::test]
async fn a_backup_with_what_is_not_ours_is_not_restored() {
    let (kit, shelf) = (kit().await, Shelf::new());
    let table = [
        "create trigger evil after insert on wallets begin delete from wallets; end",
        "create table other (a)",
        "create view other as select 1 a",
        "create index other on messages (account_id)",
        "drop index ledger_credits",
    ];
    for sql in table {
        kit.store.upkeep().backup(&shelf.backup()).await.unwrap();
        change(&shelf.backup(), sql).await;
        let refused = shelf.restore().await.unwrap_err();
        assert!(
            matches!(refused, BackupError::Altered(_)),
            "{sql}: {refused:?}"
        );
        assert_eq!(shelf.files(), ["backup.db"], "{sql}");
        fs::remove_file(shelf.backup()).unwrap();
    }
    kit.store.upkeep().backup(&shelf.backup()).await.unwrap();
    shelf.restore().await.unwrap();
    kit.finish().await;
}

#[tokio::test]
async fn a_log_with_data_beside_no_database_is_no_new_installation() {
    let shelf = Shelf::new();
    let target = Target::Directory(shelf.directory());
    Store::open(&target).await.unwrap().close().await;
    let [database, log] = ["ogene.db", "ogene.db-wal"].map(|name| shelf.directory().join(name));
    let opens = async || match Store::open(&target).await {
        Ok(store) => store.close().await,
        Err(Error::LogAlone(path)) => panic!("{path}"),
        Err(error) => panic!("{error}"),
    };
    for is_there in [true, false] {
        if is_there {
            fs::write(&database, "").unwrap();
        } else {
            fs::remove_file(&database).unwrap();
        }
        fs::write(&log, vec![7; 8_000]).unwrap();
        let refused = Store::open(&target).await.map(drop).unwrap_err();
        assert!(matches!(refused, Error::LogAlone(_)), "{refused}");
        assert_eq!(fs::read(&log).unwrap().len(), 8_000);
        assert_eq!(database.exists(), is_there);
    }
    fs::remove_file(&log).unwrap();
    opens().await;
}
