-- What the messages of an account have in common is said once (decision 0025): a message says either under which profile
-- it was sent or all of it itself, as those from before do. What is read of every message stands before what may be long.
create table profiles (
    bucket bigint not null,
    account_id bigint not null,
    profile bigint not null,
    gateway text not null,
    sender text not null,
    callback_url text,
    primary key (bucket, account_id, profile)
) without rowid;

create table messages_by_profile (
    bucket bigint not null,
    message_id blob not null,
    account_id bigint not null,
    profile bigint,
    sandbox boolean not null,
    gateway text,
    refund_undelivered boolean not null,
    two_legs boolean not null,
    callbacks_ended boolean not null default false,
    sender text,
    callback_url text,
    customer_reference text,
    cost bigint not null,
    page_count bigint not null,
    paid_from text not null,
    body text not null,
    recipients blob not null,
    primary key (bucket, message_id)
) without rowid;
insert into messages_by_profile
select bucket, message_id, account_id, null, sandbox, gateway, refund_undelivered, two_legs, callbacks_ended, sender,
    callback_url, customer_reference, cost, page_count, paid_from, body, recipients
from messages order by bucket, message_id;
drop table messages;
alter table messages_by_profile rename to messages;

create view messages_in_full as
select m.bucket, m.message_id, m.account_id, m.sandbox, coalesce(m.gateway, p.gateway) as gateway,
    m.refund_undelivered, m.two_legs, m.callbacks_ended, coalesce(m.sender, p.sender) as sender,
    coalesce(m.callback_url, p.callback_url) as callback_url, m.customer_reference, m.cost, m.paid_from, m.body
from messages m
left join profiles p on p.bucket = m.bucket and p.account_id = m.account_id and p.profile = m.profile;
