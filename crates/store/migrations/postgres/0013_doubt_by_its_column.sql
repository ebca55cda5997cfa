-- By the column that most deliveries never change. A row that changes a column of an index, or of its condition, has new
-- entries in all indexes of its table; any other only needs room in its page, which is left free.
drop index deliveries_in_doubt;
create index deliveries_in_doubt on deliveries (recipient) where doubts is not null;
alter table deliveries set (fillfactor = 50);
