use super::super::{callbacks, configuration, customer};
use super::*;
use crate::app;
use crate::config::Config;
use domain::search::FilterFields;
use engine::Usage;
use engine::operators::{PageRequest, QueryScope};
use std::collections::BTreeSet;

const NOW: i64 = 1_796_000_000_000;
/// A slow machine sends everything too.
const NO_LIMIT: Duration = Duration::from_mins(30);

/// The demo after its history, with the database open again.
struct Demo {
    counts: Counts,
    account: AccountId,
    operations: Operations,
    config: Config,
    _data: tempfile::TempDir,
}

impl Demo {
    async fn new() -> Self {
        let data = tempfile::tempdir().expect("a directory");
        let script = simulator::script(NOW, RECEIPT_DELAY).expect("a script");
        let smsc = Smsc::start(script).await.expect("a simulator");
        let callbacks = callbacks::receive().await.expect("a receiver");
        let config = Config::read(&configuration(smsc.address()), "demo", []).expect("no fault");
        let config = Config {
            data_dir: data.path().to_owned(),
            ..config
        };
        let store = app::open(&config).await.expect("a database");
        let clock = Clock::manual(NOW - LENGTH_MS);
        let operations = Operations::new(store.clone(), actor_at(clock.clone()));
        let made = customer::make(&operations).await.expect("an account");
        let history = History {
            smsc: &smsc,
            callbacks: &callbacks,
            account: made.account,
            token: &made.token,
            clock,
            now_ms: NOW,
        };
        let sent = history.send(store, config.settings(), NO_LIMIT).await;
        let store = app::open(&config).await.expect("a database");
        Self {
            counts: sent.expect("all was sent"),
            account: made.account,
            operations: Operations::new(store, actor_at(Clock::manual(NOW))),
            config,
            _data: data,
        }
    }

    async fn usage(&self, by: &str) -> Vec<Usage> {
        let fields = FilterFields {
            since: Some(lagos_time(NOW - LENGTH_MS)),
            until: Some(lagos_time(NOW)),
            by: Some(by.to_owned()),
            ..FilterFields::default()
        };
        let scope = QueryScope {
            account: Some(self.account),
            environment: Environment::Live,
        };
        let queries = self.operations.queries(self.config.settings().rules);
        let page = queries.usage(scope, &fields, &PageRequest::default()).await;
        page.expect("a page").items
    }

    /// Returns the sum of the ledger.
    async fn ledger(&self) -> Money {
        let mut sum = Money::ZERO;
        let mut request = PageRequest::new(500, None);
        loop {
            let wallets = self.operations.wallets();
            let page = wallets.statement(self.account, &request).await;
            let page = page.expect("a page");
            sum = page.items.iter().fold(sum, |sum, one| sum + one.amount);
            if page.next.is_none() {
                return sum;
            }
            request = PageRequest::new(500, page.next);
        }
    }
}

/// The overview, the wallet, the callbacks and `ogene verify` are looked at after one history, since
/// it takes seconds.
#[tokio::test(flavor = "multi_thread")]
async fn the_history_is_sound_and_has_all_kinds_of_traffic() {
    let demo = Demo::new().await;

    let checked = demo.operations.configuration().verify().await;
    let checked = checked.expect("a verification");
    assert_eq!(checked.violations, Vec::<String>::new());
    assert_eq!(checked.messages.unsigned_abs(), demo.counts.messages);
    let credit = Money::from_naira(1);
    let wallets = demo.operations.wallets();
    let after = wallets.credit(demo.account, credit, "test", Component::SmsWallet);
    let balance = after.await.expect("a credit").balance;
    assert_eq!(balance, demo.ledger().await);

    let hours = demo.usage("hour").await;
    assert!(hours.iter().all(|hour| hour.recipients > 0), "{hours:?}");
    let sum = |count: fn(&Usage) -> u64| hours.iter().map(count).sum::<u64>();
    assert_eq!(sum(|hour| hour.recipients), demo.counts.recipients);
    assert!(sum(|hour| hour.delivered) > 300, "{hours:?}");
    assert!(sum(|hour| hour.failed) > 20, "{hours:?}");
    assert!(
        hours.iter().any(|hour| hour.refunded.is_positive()),
        "{hours:?}"
    );
    for (by, at_least) in [("sender", 3), ("gateway", 5), ("network", 3)] {
        let groups = demo.usage(by).await;
        let keys: BTreeSet<_> = groups.iter().map(|group| &group.key).collect();
        assert!(keys.len() >= at_least, "{keys:?}");
    }

    let callbacks = demo.operations.callbacks();
    let dead = callbacks.dead(demo.account, &PageRequest::default()).await;
    assert_eq!(dead.expect("a page").items.len(), 1);
}
