-- What every account spends in a day is counted, with a limit or without. Of those that have none, what they were charged on
-- their last day so far.
with days as (
    select bucket, account_id, (created_at_ms + 3600000) / 86400000 as day, cast(-sum(amount) as bigint) as spent
    from ledger where kind = 'charge' group by 1, 2, 3
), latest as (
    select bucket, account_id, max(day) as day from days group by 1, 2
)
update wallets set spent_day = days.day, spent_today = days.spent
from days join latest on latest.bucket = days.bucket and latest.account_id = days.account_id and latest.day = days.day
where wallets.bucket = days.bucket and wallets.account_id = days.account_id and wallets.limit_per_day is null;
