-- SMSCs name two ids in a receipt, their own and the one of the response: it waits under both.
alter table parked_receipts add column other_id text;
