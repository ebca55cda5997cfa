-- When responses are lost, what came for each recipient is looked for among all that another platform's receipts left there.
create index parked_receipts_by_recipient on parked_receipts (bucket, recipient);
