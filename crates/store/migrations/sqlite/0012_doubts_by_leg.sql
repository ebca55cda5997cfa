-- What is in doubt, by leg: its pages as bits, and the carriers that may have them, such as `1:3:mtn,glo`.
alter table deliveries add column doubts text;
update deliveries set doubts = leg || ':' ||
    (((1 << pages) - 1) & ~ (case when leg < 2 then delivered_first else delivered_second end)) || ':' ||
    carrier || coalesce(',' || copy_carrier, '')
    where status = 'in_doubt';
alter table deliveries drop column copy_carrier;
