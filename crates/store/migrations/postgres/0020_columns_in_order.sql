-- Wide columns stand first, as those of deliveries do, so that nothing is left empty between them; and what a message was
-- charged and paid back lies together in the ledger's key. A node of before that still serves waits, and fails: what it
-- entered between the copy and the drop would be gone.
lock table ledger, messages in access exclusive mode;
create table ledger_in_order (
    account_id bigint not null,
    recipient bigint not null,
    amount bigint not null,
    created_at_ms bigint not null,
    bucket smallint not null,
    subject bytea not null,
    kind text not null,
    component text not null,
    reference text
);
insert into ledger_in_order
select account_id, recipient, amount, created_at_ms, bucket, subject, kind, component, reference
from ledger order by bucket, account_id, subject, kind, recipient, component;
drop table ledger;
alter table ledger_in_order rename to ledger;
alter table ledger add constraint ledger_pkey
    primary key (bucket, account_id, subject, kind, recipient, component);
create unique index ledger_credits on ledger (bucket, account_id, reference) where kind = 'credit';
create trigger ledger_keeps_entries before update or delete on ledger
for each row execute function refuse_change();

drop view messages_in_full;
create table messages_in_order (
    account_id bigint not null,
    cost bigint not null,
    page_count integer not null,
    bucket smallint not null,
    profile smallint,
    sandbox boolean not null,
    refund_undelivered boolean not null,
    two_legs boolean not null,
    callbacks_ended boolean not null default false,
    message_id bytea not null,
    recipients bytea not null,
    paid_from text not null,
    body text not null,
    gateway text,
    sender text,
    callback_url text,
    customer_reference text
);
insert into messages_in_order
select account_id, cost, page_count, bucket, profile, sandbox, refund_undelivered, two_legs, callbacks_ended, message_id,
    recipients, paid_from, body, gateway, sender, callback_url, customer_reference
from messages order by bucket, message_id;
drop table messages;
alter table messages_in_order rename to messages;
alter table messages add constraint messages_pkey primary key (bucket, message_id);
create view messages_in_full as
select m.bucket, m.message_id, m.account_id, m.sandbox, coalesce(m.gateway, p.gateway) as gateway,
    m.refund_undelivered, m.two_legs, m.callbacks_ended, coalesce(m.sender, p.sender) as sender,
    coalesce(m.callback_url, p.callback_url) as callback_url, m.customer_reference, m.cost, m.paid_from, m.body
from messages m
left join profiles p on p.bucket = m.bucket and p.account_id = m.account_id and p.profile = m.profile;
