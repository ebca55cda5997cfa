//! The invariants of sub-accounts: margins and transfers.

/// The sentence of each violation, and the statement that finds its subjects.
pub(super) const CHECKS: [(&str, &str); 7] = [
    (
        "the parent of account {} is a sub-account, has another bucket, or is newer",
        "select cast(s.account_id as text) from sub_accounts s
         left join sub_accounts p on p.account_id = s.parent_id
         where p.account_id is not null or s.parent_id >= s.account_id
             or s.parent_id % 16 <> s.account_id % 16 limit 20",
    ),
    (
        "the parent of message {} did not get exactly its margin",
        "select m.message_id from (
             select m.message_id, m.cost - m.parent_cost as margin,
                 coalesce(sum(l.amount), 0) as paid
             from messages m
             left join ledger l on l.bucket = m.bucket and l.subject = m.message_id
                 and l.account_id = m.parent_id and l.kind = 'margin' and l.recipient = 0
             where m.parent_id is not null
             group by m.bucket, m.message_id, m.cost, m.parent_cost
         ) m where m.margin <> m.paid limit 20",
    ),
    (
        "a margin of message {} was taken back without a refund",
        "select m.message_id from messages m
         join ledger l on l.bucket = m.bucket and l.subject = m.message_id
             and l.account_id = m.parent_id and l.kind = 'margin' and l.recipient <> 0
         left join ledger r on r.bucket = l.bucket and r.subject = l.subject
             and r.account_id = m.account_id and r.recipient = l.recipient and r.kind = 'refund'
         where r.subject is null limit 20",
    ),
    (
        "a recipient of message {} was refunded, and its margin was not taken back",
        "select m.message_id from messages m
         join ledger r on r.bucket = m.bucket and r.subject = m.message_id
             and r.account_id = m.account_id and r.kind = 'refund'
         left join ledger l on l.bucket = r.bucket and l.subject = r.subject
             and l.account_id = m.parent_id and l.recipient = r.recipient and l.kind = 'margin'
         where m.parent_id is not null and m.cost > m.parent_cost and length(m.margins) = 8
             and l.subject is null limit 20",
    ),
    (
        "more margins of message {} were taken back than its parent got",
        "select subject from ledger where kind = 'margin'
         group by bucket, account_id, subject having sum(amount) < 0 limit 20",
    ),
    (
        "the transfer {} changed the sum of both wallets, or is not what was asked for",
        "select t.transfer_id from (
             select t.transfer_id, t.amount, coalesce(sum(l.amount), 0) as total,
                 coalesce(sum(case when l.account_id = case t.direction when 'to_sub'
                     then t.account_id else t.parent_id end then l.amount end), 0) as moved
             from transfers t
             left join ledger l on l.subject = t.transfer_id and l.kind = 'transfer'
                 and l.account_id in (t.parent_id, t.account_id)
             group by t.transfer_id, t.amount
         ) t where t.total <> 0 or t.moved <> t.amount limit 20",
    ),
    (
        "the ledger has a transfer {} that nobody asked for",
        "select distinct l.subject from ledger l
         left join transfers t on t.transfer_id = l.subject
             and l.account_id in (t.parent_id, t.account_id)
         where l.kind = 'transfer' and t.transfer_id is null limit 20",
    ),
];
