-- Blocks of numbers to which an account does not send for a while: numbers without their last three digits.
create table paused_blocks (
    account_id bigint not null references accounts (account_id),
    block bigint not null,
    paused_at_ms bigint not null,
    until_ms bigint not null,
    primary key (account_id, block)
);
