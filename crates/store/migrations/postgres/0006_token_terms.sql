-- Until when and from which addresses a token is good: ranges with commas between them, none for everywhere.
alter table tokens add column expires_at_ms bigint;
alter table tokens add column allowed text not null default '';
