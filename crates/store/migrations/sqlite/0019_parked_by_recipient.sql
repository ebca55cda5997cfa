-- When responses are lost, what came for each recipient is looked for in the one transaction that writes, among all that another
-- platform left there.
create index parked_receipts_by_recipient on parked_receipts (bucket, recipient);
