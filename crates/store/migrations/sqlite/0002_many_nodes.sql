-- Many nodes may share a database of PostgreSQL. Here there is one; the tables are the same.

-- The processes that share this database. Each raises its beat every second; whose beat stands still is dead.
create table nodes (
    node bigint not null primary key,
    name text not null,
    beat bigint not null
);

-- The connections that an account at a carrier may have, and which node holds each.
create table binds (
    carrier text not null,
    slot bigint not null,
    node bigint not null,
    bound boolean not null default false,
    primary key (carrier, slot)
);

-- A page that is delivered is a bit of its delivery (bit 0 is page 1), no longer a count beside marked parts.
with done (message_id, recipient, leg, pages) as (
    select message_id, recipient, leg,
        cast(sum(cast(1 as bigint) << cast(page - 1 as integer)) as bigint)
    from parts where delivered and page > 0 group by message_id, recipient, leg)
update deliveries set
    delivered_first = coalesce((select pages from done where done.message_id = deliveries.message_id
        and done.recipient = deliveries.recipient and done.leg = 1), 0),
    delivered_second = coalesce((select pages from done where done.message_id = deliveries.message_id
        and done.recipient = deliveries.recipient and done.leg = 2), 0)
where pages > 1 and status in ('sent', 'in_doubt');

-- `bucket` follows from the carrier's id, by which receipts look a part up; `home` is that of its account.
alter table parts drop column delivered;
alter table parts add column home bigint not null default 0;
