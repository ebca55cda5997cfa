-- Callbacks of the sandbox are claimed apart from those of an account's real messages, so that neither delays the other.
alter table callbacks rename to callbacks_of_both;
create table callbacks (
    bucket bigint not null,
    state text not null,
    account_id bigint not null,
    sandbox boolean not null default false,
    origin text not null,
    due_at_ms bigint not null,
    message_id blob not null,
    recipient bigint not null,
    status text not null,
    attempts bigint not null,
    claimed_by bigint not null,
    claimed_until_ms bigint not null,
    primary key (bucket, state, account_id, sandbox, origin, due_at_ms, message_id, recipient)
) without rowid;
insert into callbacks
select c.bucket, c.state, c.account_id, coalesce(m.sandbox, false), c.origin, c.due_at_ms, c.message_id, c.recipient,
    c.status, c.attempts, c.claimed_by, c.claimed_until_ms
from callbacks_of_both c left join messages m on m.bucket = c.bucket and m.message_id = c.message_id;
drop table callbacks_of_both;
