-- Pages whose ids differ in the last sign alone share a row: ten or sixteen of a carrier that counts. What `pages` holds is
-- written by `store/src/parts/stored.rs`; here the recipient has eight digits in base 128. From when those are that are
-- there, only their messages tell: they stay until eight days from now.
create table parts_by_stem (
    accepted_at_ms bigint not null,
    bucket smallint not null,
    carrier text not null,
    stem text not null,
    pages bytea not null
) with (fillfactor = 90);
-- The bucket of a stem, as `bucket_of_id` has it: FNV-1a of 64 bits over the carrier, a zero and the stem.
create function bucket_of_stem(carrier text, stem text) returns smallint language plpgsql immutable as $$
declare
    octets bytea := convert_to(carrier, 'UTF8') || decode('00', 'hex') || convert_to(stem, 'UTF8');
    hash numeric := 14695981039346656037;
    low integer;
begin
    for place in 0..length(octets) - 1 loop
        low := mod(hash, 256);
        hash := mod((hash - low + (low # get_byte(octets, place))) * 1099511628211, 18446744073709551616);
    end loop;
    return mod(div(hash, 4294967296), 16);
end $$;
insert into parts_by_stem (accepted_at_ms, bucket, carrier, stem, pages)
select floor(extract(epoch from now()) / 3600)::bigint * 3600000, bucket_of_stem(carrier, stem), carrier, stem,
    decode(string_agg(encode(message_id, 'hex') || lpad(to_hex(home::integer), 2, '0') || lpad(to_hex(leg::integer), 2, '0') || '01'
        || lpad(to_hex(case when whole then 0 else ascii(right(carrier_id, 1)) end), 2, '0')
        || lpad(to_hex(abs(page) * 2 + (page < 0)::integer), 2, '0')
        || lpad(to_hex(recipient & 127 | 128), 2, '0') || lpad(to_hex(recipient >> 7 & 127 | 128), 2, '0')
        || lpad(to_hex(recipient >> 14 & 127 | 128), 2, '0') || lpad(to_hex(recipient >> 21 & 127 | 128), 2, '0')
        || lpad(to_hex(recipient >> 28 & 127 | 128), 2, '0') || lpad(to_hex(recipient >> 35 & 127 | 128), 2, '0')
        || lpad(to_hex(recipient >> 42 & 127 | 128), 2, '0') || lpad(to_hex(recipient >> 49 & 127), 2, '0'), ''), 'hex')
from (select *, carrier_id collate "C" !~ '[0-9A-Za-z]$' as whole,
        regexp_replace(carrier_id collate "C", '[0-9A-Za-z]$', '') as stem
    from parts) of_ids
group by carrier, stem;
drop function bucket_of_stem(text, text);
drop table parts;
alter table parts_by_stem rename to parts;
alter table parts add constraint parts_pkey primary key (bucket, carrier, stem, accepted_at_ms);
