-- Accounts that may not send, and what becomes of what they have queued. Few have a row: those that may have none.
create table holds (
    account_id bigint primary key,
    status text not null,
    queued text not null
);
