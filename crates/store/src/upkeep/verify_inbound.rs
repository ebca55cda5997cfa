//! The invariants of inbound messages, opt-outs and DND.

/// A sentence and a query for each invariant, as in [`super::verify`].
pub(super) const CHECKS: [(&str, &str); 3] = [
    (
        "inbound messages belong to account {}, which does not exist",
        "select distinct cast(i.account_id as text) from inbound_messages i
              left join accounts a on a.account_id = i.account_id
              where i.account_id <> 0 and a.account_id is null limit 20",
    ),
    (
        "account {} has another number of opt-outs than was counted",
        "select cast(c.account_id as text) from (
                  select account_id, sum(counted) as counted, sum(kept) as kept from (
                      select account_id, opt_outs as counted, 0 as kept from opt_out_accounts
                      union all
                      select account_id, 0 as counted, count(*) as kept from opt_outs
                      group by account_id
                  ) b group by account_id
              ) c where c.counted <> c.kept limit 20",
    ),
    (
        "the block {} of DND has another number of numbers than was counted",
        "select cast(block as text) from dnd_blocks
              where case when length(members) = 1024 then numbers < 512
                  else numbers < 1 or numbers <> length(members) / 2 end limit 20",
    ),
];
