-- What callbacks of an account are signed with: in the clear, since it has to sign. `ends_at_ms` is null until
-- another one replaces it.
create table callback_secrets (
    account_id bigint not null references accounts (account_id),
    secret_id text not null,
    secret text not null,
    created_at_ms bigint not null,
    ends_at_ms bigint,
    primary key (account_id, secret_id)
);
