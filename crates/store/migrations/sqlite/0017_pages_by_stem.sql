-- Pages whose ids differ in the last sign alone share a row: ten or sixteen of a carrier that counts. What `pages` holds is
-- written by `store/src/parts/stored.rs`; here the recipient has eight digits in base 128. From when those are that are
-- there, only their messages tell: they stay until eight days from now.
create table parts_by_stem (
    bucket bigint not null,
    carrier text not null,
    stem text not null,
    accepted_at_ms bigint not null,
    pages blob not null,
    primary key (bucket, carrier, stem, accepted_at_ms)
) without rowid;
insert into parts_by_stem
select bucket, carrier, stem, (unixepoch() / 3600) * 3600000,
    unhex(group_concat(hex(message_id) || printf('%02X%02X01%02X%02X', home, leg,
        case when whole then 0 else unicode(substr(carrier_id, -1)) end, abs(page) * 2 + (page < 0))
        || printf('%02X%02X%02X%02X%02X%02X%02X%02X',
            recipient & 127 | 128, recipient >> 7 & 127 | 128, recipient >> 14 & 127 | 128,
            recipient >> 21 & 127 | 128, recipient >> 28 & 127 | 128, recipient >> 35 & 127 | 128,
            recipient >> 42 & 127 | 128, recipient >> 49 & 127), ''))
from (select *, not carrier_id glob '*[0-9A-Za-z]' as whole,
        case when carrier_id glob '*[0-9A-Za-z]' then substr(carrier_id, 1, length(carrier_id) - 1)
            else carrier_id end as stem
    from parts)
group by bucket, carrier, stem;
drop table parts;
alter table parts_by_stem rename to parts;
