-- What operators changed, numbered without gaps by the mark `audit`: who, what, and how it was before and after, as
-- JSON without tokens, secrets and whole numbers.
create table audit (
    number bigint not null primary key,
    at_ms bigint not null,
    actor text not null,
    verb text not null,
    account_id bigint references accounts (account_id),
    object text not null,
    before text not null,
    after text not null
);
create trigger audit_keeps_entries before update on audit
begin
    select raise(abort, 'the audit is append-only');
end;
create trigger audit_loses_nothing before delete on audit
begin
    select raise(abort, 'the audit is append-only');
end;
