-- Attempts at callbacks that failed, and successes that ended a series of these. Ids of messages grow with time, so
-- the key finds what is old, and what goes with a message.
create table callback_attempts (
    bucket bigint not null,
    message_id blob not null,
    recipient bigint not null,
    made_at_ms bigint not null,
    account_id bigint not null,
    attempt bigint not null,
    result text not null,
    took_ms bigint not null,
    answer text not null,
    primary key (bucket, message_id, recipient, made_at_ms)
) without rowid;
