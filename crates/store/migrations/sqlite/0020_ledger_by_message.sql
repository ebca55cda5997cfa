-- What is accepted together is charged together: the entries of a commit lie on few pages, whoever pays (decision 0029).
drop trigger ledger_keeps_entries;
drop trigger ledger_loses_nothing;
drop index ledger_credits;
alter table ledger rename to ledger_by_account;
create table ledger (
    bucket bigint not null,
    account_id bigint not null,
    subject blob not null,
    recipient bigint not null,
    kind text not null,
    component text not null,
    amount bigint not null,
    created_at_ms bigint not null,
    reference text,
    primary key (bucket, subject, account_id, recipient, kind, component)
) without rowid;
insert into ledger select bucket, account_id, subject, recipient, kind, component, amount, created_at_ms, reference
from ledger_by_account order by bucket, subject, account_id, recipient, kind, component;
drop table ledger_by_account;
create unique index ledger_credits on ledger (bucket, account_id, reference) where kind = 'credit';
create trigger ledger_keeps_entries before update on ledger
begin
    select raise(abort, 'the ledger is append-only');
end;
create trigger ledger_loses_nothing before delete on ledger
begin
    select raise(abort, 'the ledger is append-only');
end;
