-- Of each leg the pages that were delivered are bits, and a text may have 46 of them (1,530 signs beyond the first plane).
alter table deliveries
    alter column delivered_first type bigint,
    alter column delivered_second type bigint;
