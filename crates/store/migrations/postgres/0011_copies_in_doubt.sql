-- The carrier of a copy whose response was lost as well, where it is another than that of the first: receipts of
-- both may adopt the recipient.
alter table deliveries add column copy_carrier text;
drop index deliveries_in_doubt;
create index deliveries_in_doubt on deliveries (recipient) where status = 'in_doubt';
