-- Where another platform shares the account at the SMSC, its receipts are parked too: all those of six hours. They are looked
-- at again, and let go, by when they came.
create index parked_receipts_by_time on parked_receipts (bucket, received_at_ms);
