-- Most of what Ogene keeps are deliveries, and parts for a week. Wide columns stand first, so that nothing is left
-- empty between them, and what is as usual is null: no leg failed, nothing was delivered of a second one or reserved for
-- it, nobody gave up, the sender is not added to the text. Times are Unix seconds.
create table deliveries_that_fit (
    recipient bigint not null,
    charge bigint not null,
    submitted_at_s integer not null,
    settled_at_s integer,
    delivered_first integer,
    bucket smallint not null,
    leg smallint not null,
    pages smallint not null,
    status text not null,
    message_id bytea not null,
    carrier text not null,
    reserve bigint,
    delivered_second integer,
    failed_legs smallint,
    gave_up boolean,
    suffixed boolean,
    error text,
    doubts text
);
insert into deliveries_that_fit
select recipient, charge, submitted_at_ms / 1000, settled_at_ms / 1000, nullif(delivered_first, 0), bucket, leg, pages,
    status, message_id, carrier, nullif(reserve, 0), nullif(delivered_second, 0), nullif(failed_legs, 0),
    nullif(gave_up, false), nullif(suffixed, false), error, doubts
from deliveries order by bucket, message_id, recipient;
drop table deliveries;
alter table deliveries_that_fit rename to deliveries;
-- A row becomes some bytes longer when it settles. So a page has room for each as it was and as it is.
alter table deliveries set (fillfactor = 46);
alter table deliveries add constraint deliveries_pkey primary key (bucket, message_id, recipient);
create index deliveries_in_doubt on deliveries (recipient) where doubts is not null;

create table parts_that_fit (
    recipient bigint not null,
    bucket smallint not null,
    home smallint not null default 0,
    leg smallint not null,
    page smallint not null,
    carrier text not null,
    carrier_id text not null,
    message_id bytea not null
);
insert into parts_that_fit
select recipient, bucket, home, leg, page, carrier, carrier_id, message_id from parts;
drop table parts;
alter table parts_that_fit rename to parts;
alter table parts add constraint parts_pkey
    primary key (bucket, carrier, carrier_id, message_id, recipient, leg, page);

-- Tables that are distributed together need a bucket of the same type.
alter table batches alter column bucket type smallint;
alter table callback_attempts alter column bucket type smallint;
alter table callbacks alter column bucket type smallint;
alter table ledger alter column bucket type smallint;
alter table messages alter column bucket type smallint;
alter table parked_receipts alter column bucket type smallint;
alter table recent_sends alter column bucket type smallint;
alter table wallets alter column bucket type smallint;
