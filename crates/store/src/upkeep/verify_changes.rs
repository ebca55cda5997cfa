//! The invariants of changes: schedules, pauses, cancels, idempotency keys and one-time passwords.

/// A sentence and a query for each invariant, as in [`super::verify`]. Times have a margin, because
/// the clocks of nodes differ.
pub(super) const CHECKS: [(&str, &str); 15] = [
    (
        "a live recipient of message {} was cancelled, and is not refunded whole",
        "select d.message_id from deliveries d
              join messages m on m.bucket = d.bucket and m.message_id = d.message_id
              left join (
                  select bucket, account_id, subject, recipient, sum(amount) as amount
                  from ledger where kind = 'refund'
                  group by bucket, account_id, subject, recipient
              ) l on l.bucket = m.bucket and l.account_id = m.account_id
                  and l.subject = d.message_id and l.recipient = d.recipient
              where d.status = 'cancelled' and not m.sandbox
                  and coalesce(l.amount, 0) <> d.charge limit 20",
    ),
    (
        "a recipient of message {} was cancelled, and a carrier has it",
        "select distinct message_id from deliveries
              where status = 'cancelled' and leg <> 0 limit 20",
    ),
    (
        "message {} is paused, and a carrier got some of it since",
        "select m.message_id from messages m cross join deliveries d
              where m.paused_at_ms is not null and d.bucket = m.bucket
                  and d.message_id = m.message_id and d.leg <> 0
                  and d.submitted_at_s > m.paused_at_ms / 1000 + 120
              limit 20",
    ),
    (
        "message {} is paused, and a node has unsent recipients of it",
        "select distinct m.message_id from messages m
              join batches b on b.bucket = m.bucket and b.message_id = m.message_id
              left join stops s on s.bucket = m.bucket and s.message_id = m.message_id
              where m.paused_at_ms is not null and b.kind = 'first' and b.claimed_by > 0
                  and not b.stopped
                  and s.message_id is null limit 20",
    ),
    (
        "message {} waits for a resume and is not paused",
        "select distinct m.message_id from batches b
              join messages m on m.bucket = b.bucket and m.message_id = b.message_id
              where b.claimed_by = -2 and m.paused_at_ms is null limit 20",
    ),
    (
        "a recipient of message {} waits for a resume, and a carrier has it",
        "select distinct message_id from batches
              where claimed_by = -2 and kind <> 'first' limit 20",
    ),
    (
        "message {} waits for a resume, and all its recipients have ended",
        "select m.message_id from messages m
              join (
                  select bucket, message_id from batches where claimed_by = -2
                  group by bucket, message_id
              ) b on b.bucket = m.bucket and b.message_id = m.message_id
              where (select count(*) from deliveries d where d.bucket = m.bucket
                  and d.message_id = m.message_id and d.status not in ('sent', 'in_doubt'))
                  >= length(m.recipients) / 7 limit 20",
    ),
    (
        "a receipt of message {} is kept, and the message has no such recipient",
        "select r.message_id from (
                  select bucket, message_id, first_recipient as recipient from raw_receipts
                  union
                  select bucket, message_id, last_recipient from raw_receipts
              ) r left join deliveries d on d.bucket = r.bucket
                  and d.message_id = r.message_id and d.recipient = r.recipient
              left join messages m on m.bucket = r.bucket and m.message_id = r.message_id
              where d.message_id is null and coalesce(length(m.recipients), 1) > 0 limit 20",
    ),
    (
        "the answer of an idempotency key names message {}, which belongs to \
                   another account or environment",
        "select m.message_id from idempotency_keys k
              join messages m on m.bucket = k.bucket and m.message_id = k.message_id
              where m.account_id <> k.account_id or m.sandbox <> k.sandbox limit 20",
    ),
    (
        "a recipient of message {} was cancelled, and the message was not",
        "select distinct m.message_id from deliveries d
              join messages m on m.bucket = d.bucket and m.message_id = d.message_id
              left join stops s on s.bucket = m.bucket and s.message_id = m.message_id
                  and s.cancels
              where d.status = 'cancelled' and m.cancelled_at_ms is null
                  and s.message_id is null limit 20",
    ),
    (
        "a recipient of message {} was handed to a carrier before its time",
        "select distinct m.message_id from messages m cross join deliveries d
              where m.due_at_ms is not null and d.bucket = m.bucket
                  and d.message_id = m.message_id and d.leg <> 0
                  and d.submitted_at_s + 120
                      < (m.due_at_ms - coalesce(m.paused_for_ms, 0)) / 1000
              limit 20",
    ),
    (
        "message {} is being stopped, and is not paused meanwhile",
        "select m.message_id from stops s
              join messages m on m.bucket = s.bucket and m.message_id = s.message_id
              where m.paused_at_ms is null limit 20",
    ),
    (
        "an idempotency key of account {} keeps the answer of a refused request",
        "select distinct cast(account_id as text) from idempotency_keys
              where status not between 200 and 299 limit 20",
    ),
    (
        "the one-time password {} belongs to another account, environment or message",
        "select o.otp_id from otps o
              join messages m on m.bucket = o.bucket and m.message_id = o.message_id
              where m.account_id <> o.account_id or m.sandbox <> o.sandbox
                  or coalesce(m.otp_id <> o.otp_id, true) limit 20",
    ),
    (
        "the one-time password {} had more attempts than it may have, or has two outcomes",
        "select otp_id from otps
              where wrong_attempts < 0 or wrong_attempts > max_attempts
                  or (verified and cancelled) limit 20",
    ),
];
