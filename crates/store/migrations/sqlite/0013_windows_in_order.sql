-- Rows lie in the order in which windows close, so that those of a commit share their pages.
create table recent_sends_in_order (
    bucket bigint not null,
    fingerprint blob not null,
    expires_at_ms bigint not null,
    primary key (bucket, expires_at_ms, fingerprint)
) without rowid;
insert into recent_sends_in_order select bucket, fingerprint, expires_at_ms from recent_sends;
drop table recent_sends;
alter table recent_sends_in_order rename to recent_sends;
