-- Callbacks of the sandbox are claimed apart from those of an account's real messages, so that neither delays the other.
alter table callbacks add column sandbox boolean not null default false;
update callbacks set sandbox = true
from messages m where m.bucket = callbacks.bucket and m.message_id = callbacks.message_id and m.sandbox;
alter table callbacks drop constraint callbacks_pkey;
alter table callbacks add constraint callbacks_pkey
    primary key (bucket, state, account_id, sandbox, origin, due_at_ms, message_id, recipient);
