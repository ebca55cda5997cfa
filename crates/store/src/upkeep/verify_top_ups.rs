//! The invariants of top-ups: a payment is credited once, and receipts are numbered without gaps.

/// A sentence and a query for each invariant, as in [`super::verify`].
pub(super) const CHECKS: [(&str, &str); 5] = [
    (
        "top-up {} is paid, and its credit is not its amount with its bonus",
        "select t.top_up_id from top_ups t
              left join (
                  select account_id, subject, sum(amount) as amount
                  from ledger where kind = 'credit' group by account_id, subject
              ) l on l.account_id = t.account_id and l.subject = t.top_up_id
              where t.state = 'paid' and not t.sandbox
                  and coalesce(l.amount, 0) <> t.amount + t.bonus limit 20",
    ),
    (
        "top-up {} is credited, and it is not a paid one of the live environment",
        "select t.top_up_id from (
                  select distinct subject from ledger where kind = 'credit'
              ) l join top_ups t on t.top_up_id = l.subject
              where t.state <> 'paid' or t.sandbox limit 20",
    ),
    (
        "top-up {} has a receipt without a payment, or a payment without a receipt",
        "select top_up_id from top_ups
              where (state = 'paid') <> (receipt_number is not null)
                  or (state = 'paid') <> (paid_at_ms is not null) limit 20",
    ),
    (
        "the receipts do not have exactly the {} numbers that were given",
        "select cast(c.given as text) from (
                  select coalesce(max(value), 0) as given from marks where name = 'receipts'
              ) c cross join (
                  select count(receipt_number) as kept,
                      coalesce(max(receipt_number), 0) as latest
                  from top_ups where not sandbox
              ) r where c.given <> r.kept or c.given <> r.latest",
    ),
    (
        "top-ups belong to account {}, which does not exist",
        "select distinct cast(t.account_id as text) from top_ups t
              left join accounts a on a.account_id = t.account_id
              where a.account_id is null
                  and (t.account_id <> 0 or t.state not in ('mismatch', 'failed')) limit 20",
    ),
];
