-- As on PostgreSQL, where what is as usual takes no room when it is null: no leg failed, nothing was delivered of a
-- second one or reserved for it, nobody gave up, the sender is not added to the text. Times are Unix seconds.
create table deliveries_that_fit (
    bucket bigint not null,
    message_id blob not null,
    recipient bigint not null,
    status text not null,
    leg bigint not null,
    pages bigint not null,
    charge bigint not null,
    carrier text not null,
    submitted_at_s bigint not null,
    settled_at_s bigint,
    delivered_first bigint,
    delivered_second bigint,
    failed_legs bigint,
    gave_up boolean,
    suffixed boolean,
    reserve bigint,
    error text,
    doubts text,
    primary key (bucket, message_id, recipient)
) without rowid;
insert into deliveries_that_fit
select bucket, message_id, recipient, status, leg, pages, charge, carrier, submitted_at_ms / 1000, settled_at_ms / 1000,
    nullif(delivered_first, 0), nullif(delivered_second, 0), nullif(failed_legs, 0), nullif(gave_up, false),
    nullif(suffixed, false), nullif(reserve, 0), error, doubts
from deliveries order by bucket, message_id, recipient;
drop table deliveries;
alter table deliveries_that_fit rename to deliveries;
create index deliveries_in_doubt on deliveries (recipient) where doubts is not null;
