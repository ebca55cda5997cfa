//! PostgreSQL uses the space of removed queue rows again (decision 0026).

use database::{Server, Target, TestConnection};
use store::Store;
use storekit::{administer, fresh};

const FILL: &str = "insert into recent_sends (bucket, fingerprint, expires_at_ms)
     select 0, decode(md5(cast(one as text)), 'hex'), 1 from generate_series(1, 5000) one";
const REMOVED: &str = "select pg_stat_get_tuples_deleted('recent_sends'::regclass)";
const SIZE: &str = "select pg_total_relation_size('recent_sends')";
const DEAD: &str = "select pg_stat_get_dead_tuples('recent_sends'::regclass)";
const VACUUMS: &str = "select pg_stat_get_vacuum_count('recent_sends'::regclass)";
/// The server's own vacuum would be counted sometimes.
const OURS_ALONE: &str = "alter table recent_sends set (autovacuum_enabled = false)";

/// The test has a database of its own, where no reader of another test delays the removal.
struct Queue {
    store: Store,
    connection: TestConnection,
    removed: i64,
}

impl Queue {
    async fn open(url: &str) -> Self {
        let server = Server::new(url, 4).unwrap();
        let store = Store::open(&Target::Postgres(server)).await.unwrap();
        let connection = TestConnection::postgres(url).await.unwrap();
        let mut queue = Self {
            store,
            connection,
            removed: 0,
        };
        queue.run(OURS_ALONE).await;
        queue
    }

    async fn run(&mut self, sql: &'static str) {
        self.connection.run(sql).await.unwrap();
    }

    async fn number(&mut self, sql: &'static str) -> i64 {
        self.connection.column(sql).await.unwrap()[0]
    }

    /// Opens and closes windows, and vacuums the queues as often as in three seconds. Returns the
    /// size of the table and the number of vacuums.
    async fn turn_over(&mut self) -> (i64, i64) {
        self.run(FILL).await;
        let size = self.number(SIZE).await;
        self.run("delete from recent_sends").await;
        self.removed += 5_000;
        // The server counts it after the connection was idle for ten seconds, or used again after a
        // second.
        self.run("select pg_stat_force_next_flush()").await;
        while self.number(REMOVED).await < self.removed {}
        let before = self.number(VACUUMS).await;
        for _ in 0..3 {
            self.store.upkeep().vacuum_queues().await.unwrap();
        }
        (size, self.number(VACUUMS).await - before)
    }

    /// Removes the rows that were kept by a snapshot of the server's own, such as that of an
    /// analyze of another table.
    async fn remove_the_rest(&mut self) {
        while self.number(DEAD).await > 0 {
            self.run("vacuum recent_sends").await;
        }
    }
}

#[tokio::test]
async fn queues_are_vacuumed_once_most_rows_are_dead() {
    testkit::needs!(Postgres);
    let server = testkit::postgres_url();
    let name = format!("vacuum_{}_{}", std::process::id(), fresh());
    administer(&server, &format!("create database {name}")).await;
    let url = server.replacen("/postgres", &format!("/{name}"), 1);
    let mut queue = Queue::open(&url).await;

    let mut sizes = Vec::new();
    for _ in 0..3 {
        let (size, vacuums) = queue.turn_over().await;
        assert_eq!(vacuums, 1);
        queue.remove_the_rest().await;
        sizes.push(size);
    }
    // Emptied pages of an index are free one vacuum later.
    assert!(sizes[2] < 2 * sizes[0], "{sizes:?}");

    // A dump, for example, keeps all rows that are removed from now on.
    let mut dump = TestConnection::postgres(&url).await.unwrap();
    let snapshot = "begin isolation level repeatable read; select count(*) from wallets";
    dump.run(snapshot).await.unwrap();
    let mut vacuums = Vec::new();
    for _ in 0..4 {
        vacuums.push(queue.turn_over().await.1);
    }
    assert_eq!(vacuums, [1, 0, 1, 0], "when there is twice as much");

    dump.close().await.unwrap();
    queue.connection.close().await.unwrap();
    queue.store.close().await;
    administer(&server, &format!("drop database {name}")).await;
}
