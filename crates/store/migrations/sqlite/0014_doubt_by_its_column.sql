-- By the column that most deliveries never change: then the index need not be looked at.
drop index deliveries_in_doubt;
create index deliveries_in_doubt on deliveries (recipient) where doubts is not null;
