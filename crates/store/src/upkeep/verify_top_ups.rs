//! The invariants of top-ups: a payment is credited once, and receipts are numbered without gaps.

/// A sentence and a query for each invariant, as in [`super::verify`].
pub(super) const CHECKS: [(&str, &str); 6] = [
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
        "no receipt has the number {}",
        "select cast(g.first_number as text) || case when g.last_number > g.first_number
                  then ' to ' || cast(g.last_number as text) else '' end
              from (
                  select number + 1 as first_number,
                      lead(number) over (order by number) - 1 as last_number
                  from (
                      select 0 as number
                      union all select receipt_number from top_ups
                          where receipt_number is not null and not sandbox
                      union all select coalesce(max(value), 0) + 1 from marks
                          where name = 'receipts'
                  ) n
              ) g where g.last_number >= g.first_number order by g.first_number limit 20",
    ),
    (
        "top-up {} has a receipt number that was not given",
        "select t.top_up_id from top_ups t cross join (
                  select coalesce(max(value), 0) as given from marks where name = 'receipts'
              ) m where not t.sandbox and t.receipt_number > m.given limit 20",
    ),
    (
        "top-ups belong to account {}, which does not exist",
        "select distinct cast(t.account_id as text) from top_ups t
              left join accounts a on a.account_id = t.account_id
              where a.account_id is null
                  and (t.account_id <> 0 or t.state not in ('mismatch', 'failed')) limit 20",
    ),
];
