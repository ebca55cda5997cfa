//! Verification: it recomputes every balance from the ledger and checks the invariants.

use super::{verify_changes, verify_inbound, verify_sub_accounts, verify_top_ups};
use database::{Db, Error, FromRow, Result, Row, Tx, query};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// The counts of checked rows, and the violations.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Verification {
    /// Wallets checked.
    pub wallets: i64,
    /// Ledger entries checked.
    pub entries: i64,
    /// Messages checked.
    pub messages: i64,
    /// Deliveries checked.
    pub deliveries: i64,
    /// One sentence for each violation, with a limit for each kind.
    pub violations: Vec<String>,
}

/// The progress of a verification, which another task may read.
#[derive(Debug, Default)]
pub struct VerifyProgress {
    done: AtomicUsize,
    all: AtomicUsize,
}

impl VerifyProgress {
    /// Returns the number of completed checks, and of all. Before the first, all is 0.
    pub fn read(&self) -> (usize, usize) {
        (self.done.load(Relaxed), self.all.load(Relaxed))
    }
}

/// A query that returns no row if all is well. The text describes a row, with its first column as
/// `{}`.
struct Check {
    sentence: &'static str,
    sql: &'static str,
}

/// The invariants. At most 20 violations of a kind are listed. Old messages are gone, and messages
/// with an empty list are being removed. Their ledger entries stay, and only the sums of these can
/// be checked.
///
/// A message is read once and not for each of its recipients. SQLite reads a row up to its list,
/// which is 700 KB for 100,000 recipients. So messages come first (a cross join keeps its order),
/// or the rows of a message are grouped before.
///
/// Expiry is judged by the marks of the sweeps, not by a clock. While the service stands still no
/// recipient expires, and that is correct.
const CHECKS: [Check; 22] = [
    Check {
        sentence: "the wallet of account {} is not the sum of its ledger entries",
        sql: "select cast(w.account_id as text) from wallets w
              left join (
                  select bucket, account_id,
                      sum(case when component = 'promo_bonus' then amount else 0 end) as promo,
                      sum(case when component = 'volume_bonus' then amount else 0 end) as volume,
                      sum(case when component = 'sms_bonus' then amount else 0 end) as bonus,
                      sum(case when component = 'sms_wallet' then amount else 0 end) as sms,
                      sum(case when component = 'main_balance' then amount else 0 end) as main,
                      sum(case when component = 'universal_wallet' then amount
                          else 0 end) as universal
                  from ledger group by bucket, account_id
              ) l on l.bucket = w.bucket and l.account_id = w.account_id
              where w.promo_bonus <> coalesce(l.promo, 0)
                  or w.volume_bonus <> coalesce(l.volume, 0)
                  or w.sms_bonus <> coalesce(l.bonus, 0) or w.sms_wallet <> coalesce(l.sms, 0)
                  or w.main_balance <> coalesce(l.main, 0)
                  or w.universal_wallet <> coalesce(l.universal, 0)
              limit 20",
    },
    Check {
        sentence: "the wallet of account {} has a negative component",
        sql: "select cast(account_id as text) from wallets
              where promo_bonus < 0 or volume_bonus < 0 or sms_bonus < 0 or sms_wallet < 0
                  or main_balance < 0 or (universal_wallet < 0 and not sells)
              limit 20",
    },
    Check {
        sentence: "account {} has ledger entries but no wallet",
        sql: "select distinct cast(l.account_id as text) from ledger l
              left join wallets w on w.bucket = l.bucket and w.account_id = l.account_id
              where w.account_id is null limit 20",
    },
    Check {
        sentence: "the live message {} was not charged exactly its cost",
        sql: "select m.message_id from (
                  select m.message_id as message_id, m.cost as cost,
                      coalesce(-sum(l.amount), 0) as charged
                  from messages m
                  left join ledger l on l.bucket = m.bucket and l.account_id = m.account_id
                      and l.subject = m.message_id and l.kind = 'charge'
                  where not m.sandbox group by m.bucket, m.message_id, m.cost
              ) m where m.cost <> m.charged limit 20",
    },
    Check {
        sentence: "the sandbox message {} has ledger entries",
        sql: "select m.message_id from messages m cross join ledger l
              where m.sandbox and l.bucket = m.bucket and l.account_id = m.account_id
                  and l.subject = m.message_id limit 20",
    },
    Check {
        sentence: "the message {} was refunded more than it was charged",
        sql: "select subject from ledger where kind in ('charge', 'refund', 'unused_leg')
              group by bucket, account_id, subject, component having sum(amount) > 0 limit 20",
    },
    Check {
        sentence: "a recipient of message {} was refunded more than it was charged",
        sql: "select l.subject from ledger l
              join deliveries d on d.bucket = l.bucket and d.message_id = l.subject
                  and d.recipient = l.recipient
              where l.kind in ('refund', 'unused_leg')
              group by l.bucket, l.subject, l.recipient, d.charge
              having sum(l.amount) > d.charge limit 20",
    },
    Check {
        sentence: "a recipient of message {} was refunded without a final status",
        sql: "select m.message_id from (
                  select l.bucket, l.subject from ledger l
                  left join deliveries d on d.bucket = l.bucket and d.message_id = l.subject
                      and d.recipient = l.recipient
                  where l.kind in ('refund', 'unused_leg')
                      and coalesce(d.status, 'sent') in ('sent', 'in_doubt')
                  group by l.bucket, l.subject
              ) f join messages m on m.bucket = f.bucket and m.message_id = f.subject
              where length(m.recipients) > 0 limit 20",
    },
    Check {
        sentence: "message {} has more deliveries than recipients",
        sql: "select m.message_id from (
                  select bucket, message_id, count(*) as known from deliveries
                  group by bucket, message_id
              ) d join messages m on m.bucket = d.bucket and m.message_id = d.message_id
              where length(m.recipients) > 0 and d.known > length(m.recipients) / 7 limit 20",
    },
    Check {
        sentence: "a recipient of message {} has no outcome, and no batch will send to it",
        sql: "select m.message_id from messages m
              left join (
                  select bucket, message_id, count(*) as known from deliveries
                  group by bucket, message_id
              ) d on d.bucket = m.bucket and d.message_id = m.message_id
              left join (
                  select bucket, message_id, sum(length(recipients) / 7) as waiting from batches
                  where kind = 'first' group by bucket, message_id
              ) b on b.bucket = m.bucket and b.message_id = m.message_id
              where length(m.recipients) / 7 > coalesce(d.known, 0) + coalesce(b.waiting, 0)
              limit 20",
    },
    Check {
        sentence: "the cost of message {} is not what its recipients were charged",
        sql: "select m.message_id from messages m
              left join (
                  select bucket, message_id, count(*) as known, sum(charge) as charged
                  from deliveries group by bucket, message_id
              ) d on d.bucket = m.bucket and d.message_id = m.message_id
              left join (
                  select bucket, message_id, sum(length(recipients) / 7) as waiting,
                      sum(length(recipients) / 7 * charge) as charged
                  from batches where kind = 'first' group by bucket, message_id
              ) b on b.bucket = m.bucket and b.message_id = m.message_id
              where length(m.recipients) > 0
                  and length(m.recipients) / 7 = coalesce(d.known, 0) + coalesce(b.waiting, 0)
                  and coalesce(d.charged, 0) + coalesce(b.charged, 0) <> m.cost limit 20",
    },
    Check {
        sentence: "a recipient of message {} pays for part of a page, or for more pages \
                   than its text has",
        sql: "select m.message_id from (
                  select bucket, message_id, max(charge % nullif(pages, 0)) as part,
                      max(reserve % nullif(pages, 0)) as reserved_part, min(pages) as fewest,
                      max(pages) as most
                  from deliveries group by bucket, message_id
              ) d join messages m on m.bucket = d.bucket and m.message_id = d.message_id
              where d.part <> 0 or d.reserved_part <> 0 or d.fewest < 1
                  or d.most > m.page_count limit 20",
    },
    Check {
        sentence: "a recipient of message {} has no outcome, and has been passed by the \
                   sweep that gives up",
        sql: "select m.message_id from (
                  select bucket, message_id, min(submitted_at_s) as since_s from deliveries
                  where status in ('sent', 'in_doubt') group by bucket, message_id
              ) d join messages m on m.bucket = d.bucket and m.message_id = d.message_id
              join marks k on k.name = 'expired-' || m.gateway || '-' || m.bucket
              where d.since_s + 1 + coalesce(m.paused_for_ms, 0) / 1000 <= k.value / 1000 limit 20",
    },
    Check {
        sentence: "a recipient of message {} waits to be sent to, though those are given up \
                   that were long after it",
        sql: "select distinct m.message_id from batches b
              join messages m on m.bucket = b.bucket and m.message_id = b.message_id
              join marks k on k.name = 'expired-' || m.gateway || '-' || m.bucket
              where b.claimed_by <= 0 and b.expires_at_ms < k.value
                  and (b.kind <> 'first' or m.paused_at_ms is null) limit 20",
    },
    Check {
        sentence: "a recipient of message {} was settled without an outcome or its time",
        sql: "select distinct message_id from deliveries
              where case when status in ('sent', 'in_doubt') then settled_at_s is not null
                  when status in ('delivrd', 'undeliv', 'expired', 'rejectd', 'failed',
                      'cancelled')
                      then settled_at_s is null
                  else true end
              limit 20",
    },
    Check {
        sentence: "a recipient of message {} is in doubt and nobody knows with whom, \
                   or is not and somebody does",
        sql: "select distinct message_id from deliveries
              where (status = 'in_doubt') <> (doubts is not null) limit 20",
    },
    Check {
        sentence: "a callback or receipt of message {} has an outcome that its recipient does not have",
        sql: "select m.message_id from (
                  select o.bucket, o.subject as message_id from outbox o
                  left join deliveries d on d.bucket = o.bucket and d.message_id = o.subject
                      and d.recipient = o.recipient
                  where o.kind in ('delivery_status', 'receipt') and coalesce(d.status,
                      'sent') in ('sent', 'in_doubt')
                  group by o.bucket, o.subject
              ) f join messages m on m.bucket = f.bucket and m.message_id = f.message_id
              where length(m.recipients) > 0 limit 20",
    },
    Check {
        sentence: "receipts wait for the SMPP user {}, which does not exist",
        sql: "select o.destination from (
                  select account_id, destination from outbox where kind = 'receipt'
                  group by account_id, destination
              ) o left join smpp_users u on u.account_id = o.account_id
                  and 'smpp:' || u.system_id = o.destination
              where u.system_id is null limit 20",
    },
    Check {
        sentence: "message {} is missing, but its deliveries are not",
        sql: "select d.message_id from (
                  select bucket, message_id from deliveries group by bucket, message_id
              ) d left join messages m on m.bucket = d.bucket and m.message_id = d.message_id
              where m.message_id is null limit 20",
    },
    Check {
        sentence: "a refund is missing for a live recipient of message {}",
        sql: "select m.message_id from messages m cross join deliveries d
              left join ledger l on l.bucket = m.bucket and l.account_id = m.account_id
                  and l.subject = m.message_id and l.recipient = d.recipient
                      and l.kind = 'refund'
              where m.refund_undelivered and not m.sandbox
                  and d.bucket = m.bucket and d.message_id = m.message_id
                  and d.status in ('undeliv', 'expired', 'rejectd', 'failed')
                  and d.charge > 0 and l.subject is null
              limit 20",
    },
    Check {
        sentence: "account {} was charged more in a day than its wallet has counted",
        sql: "select cast(w.account_id as text) from ledger l cross join wallets w
              where w.bucket = l.bucket and w.account_id = l.account_id and l.kind = 'charge'
                  and l.created_at_ms >= w.spent_day * 86400000 - 3600000
                  and l.created_at_ms < w.spent_day * 86400000 + 82800000
              group by w.bucket, w.account_id, w.spent_today
              having -sum(l.amount) > w.spent_today limit 20",
    },
    Check {
        sentence: "the audit does not have exactly the {} entries that were made",
        sql: "select cast(c.made as text) from (
                  select coalesce(max(value), 0) as made from marks where name = 'audit'
              ) c cross join (
                  select count(*) as kept, coalesce(max(number), 0) as latest from audit
              ) a where c.made <> a.kept or c.made <> a.latest",
    },
];

/// Returns the query for append-only tables whose rows no trigger protects.
fn unguarded(tx: &Tx) -> &'static str {
    match tx {
        Tx::Sqlite(_) => {
            "with v (name, event) as (values ('ledger', 'update'), ('ledger', 'delete'),
                 ('audit', 'update'), ('audit', 'delete'))
             select distinct name from v where not exists (select 1 from sqlite_master
                 where tbl_name = v.name
                     and sql like '%before ' || event || ' on %raise(abort,%')"
        }
        // The bits of a trigger are: for each row (1), before (2), on delete (8), on update (16).
        Tx::Postgres(_) => {
            "select name from (values ('ledger'), ('audit')) v (name) where not exists (
                 select 1 from pg_trigger where tgrelid = cast(v.name as regclass)
                     and tgenabled in ('O', 'A') and (tgtype & 27) = 27)"
        }
    }
}

/// Checks all invariants. It reads all messages, which takes long on a large database. It sees
/// the database as of one moment, whatever changes meanwhile.
pub(crate) async fn verify(db: &Db, progress: &VerifyProgress) -> Result<Verification> {
    let mut tx = db.read().await?;
    tx.begin_snapshot().await?;
    let verification = check(&mut tx, progress).await;
    tx.end_snapshot().await?;
    verification
}

/// The subject of a violation: a text, or an id in hexadecimal digits.
struct Subject(String);

impl FromRow for Subject {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        let text = row.get(0).or_else(|_| {
            let id: Vec<u8> = row.get(0)?;
            let digits = id.iter().flat_map(|byte| [byte >> 4, byte & 0xF]);
            let digits = digits.filter_map(|digit| char::from_digit(digit.into(), 16));
            Ok::<_, Error>(digits.collect())
        })?;
        Ok(Self(text))
    }
}

/// Checks all rows that a connection reads.
pub(crate) async fn check(tx: &mut Tx, progress: &VerifyProgress) -> Result<Verification> {
    let mut verification = Verification::default();
    for (count, sql) in [
        (&mut verification.wallets, "select count(*) from wallets"),
        (&mut verification.entries, "select count(*) from ledger"),
        (&mut verification.messages, "select count(*) from messages"),
        (
            &mut verification.deliveries,
            "select count(*) from deliveries",
        ),
    ] {
        *count = tx.fetch_one(query(sql)).await?;
    }
    let unguarded = Check {
        sentence: "the entries of the {} can be changed or removed: no trigger refuses it",
        sql: unguarded(tx),
    };
    let of = |(sentence, sql)| Check { sentence, sql };
    let changes = verify_changes::CHECKS.map(of);
    let top_ups = verify_top_ups::CHECKS.map(of);
    let inbound = verify_inbound::CHECKS.map(of);
    let sub_accounts = verify_sub_accounts::CHECKS.map(of);
    let all = CHECKS.iter().chain(&changes).chain(&top_ups);
    let all = all.chain(&inbound).chain(&sub_accounts);
    let all: Vec<&Check> = all.chain([&unguarded]).collect();
    progress.all.store(all.len(), Relaxed);
    for check in all {
        let found: Vec<Subject> = tx.fetch_all(query(check.sql)).await?;
        verification.violations.extend(
            found
                .iter()
                .map(|Subject(subject)| check.sentence.replace("{}", subject)),
        );
        progress.done.fetch_add(1, Relaxed);
    }
    Ok(verification)
}
