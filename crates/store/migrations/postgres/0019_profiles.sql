-- What the messages of an account have in common is said once (decision 0025): a message says either under which profile
-- it was sent or all of it itself, as those from before do.
create table profiles (
    bucket smallint not null,
    account_id bigint not null,
    profile smallint not null,
    gateway text not null,
    sender text not null,
    callback_url text,
    primary key (bucket, account_id, profile)
);
alter table messages add column profile smallint;
alter table messages alter column gateway drop not null;
alter table messages alter column sender drop not null;

create view messages_in_full as
select m.bucket, m.message_id, m.account_id, m.sandbox, coalesce(m.gateway, p.gateway) as gateway,
    m.refund_undelivered, m.two_legs, m.callbacks_ended, coalesce(m.sender, p.sender) as sender,
    coalesce(m.callback_url, p.callback_url) as callback_url, m.customer_reference, m.cost, m.paid_from, m.body
from messages m
left join profiles p on p.bucket = m.bucket and p.account_id = m.account_id and p.profile = m.profile;
