-- What the nodes have reserved for an account's requests of a kind in the last minute: when the newest slot of
-- the window began, and the packed counts. Nothing here is worth keeping for longer than that, so it may be
-- lost with the server. No index but the key: each reservation would write it too.
create table rates (
    account_id bigint not null,
    sandbox boolean not null,
    kind text not null,
    newest_ms bigint not null,
    counts bytea not null,
    primary key (account_id, sandbox, kind)
);
