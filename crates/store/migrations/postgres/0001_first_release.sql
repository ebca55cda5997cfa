-- Times are Unix milliseconds, money is ten-thousandths of a naira, ids are made by the application.
-- `bucket` leads every key of the message tables, so that they can be distributed by it.

create table accounts (
    account_id bigint not null primary key,
    email text not null,
    name text not null,
    status text not null,
    verification text not null,
    created_at_ms bigint not null
);

create table tokens (
    token_id text not null primary key,
    account_id bigint not null references accounts (account_id),
    name text not null,
    hash bytea not null unique,
    created_at_ms bigint not null,
    revoked_at_ms bigint
);

create table sender_ids (
    account_id bigint not null references accounts (account_id),
    sender_key text not null,
    name text not null,
    status text not null,
    purpose text not null,
    international boolean not null,
    created_at_ms bigint not null,
    approved_at_ms bigint,
    rejection_reason text,
    primary key (account_id, sender_key)
);

-- Small facts that survive a restart: the revision of accounts, tokens and sender IDs; how far sweeps came.
create table marks (
    name text not null primary key,
    value bigint not null
);

create table wallets (
    bucket bigint not null,
    account_id bigint not null,
    promo_bonus bigint not null default 0 check (promo_bonus >= 0),
    volume_bonus bigint not null default 0 check (volume_bonus >= 0),
    sms_bonus bigint not null default 0 check (sms_bonus >= 0),
    sms_wallet bigint not null default 0 check (sms_wallet >= 0),
    main_balance bigint not null default 0 check (main_balance >= 0),
    universal_wallet bigint not null default 0 check (universal_wallet >= 0),
    primary key (bucket, account_id)
);

-- `subject` is the message, or the id of a credit; `recipient` is 0 unless one recipient is refunded. The
-- primary key is what makes a second charge or refund impossible.
create table ledger (
    bucket bigint not null,
    account_id bigint not null,
    subject bytea not null,
    recipient bigint not null,
    kind text not null,
    component text not null,
    amount bigint not null,
    created_at_ms bigint not null,
    reference text,
    primary key (bucket, account_id, subject, recipient, kind, component)
);
create unique index ledger_credits on ledger (bucket, account_id, reference) where kind = 'credit';
create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'the ledger is append-only';
end
$$;
create trigger ledger_keeps_entries before update or delete on ledger
for each row execute function refuse_change();

create table recent_sends (
    bucket bigint not null,
    fingerprint bytea not null,
    expires_at_ms bigint not null,
    primary key (bucket, fingerprint)
);
create index recent_sends_by_end on recent_sends (bucket, expires_at_ms);

-- `paid_from` is what each wallet component paid (`sms_wallet:60000`); `recipients` is the packed list.
-- A receiver that says it is gone (410) sets `callbacks_ended`; nothing else changes after acceptance.
create table messages (
    bucket bigint not null,
    message_id bytea not null,
    account_id bigint not null,
    sandbox boolean not null,
    gateway text not null,
    refund_undelivered boolean not null,
    two_legs boolean not null,
    sender text not null,
    body text not null,
    callback_url text,
    customer_reference text,
    cost bigint not null,
    page_count bigint not null,
    paid_from text not null,
    recipients bytea not null,
    callbacks_ended boolean not null default false,
    primary key (bucket, message_id)
);

-- Some recipients of one message, for one carrier, not accounted for yet. `claimed_by` is 0, or the node
-- that is handing them to the wire: what is claimed and has no delivery may have been sent.
create table batches (
    bucket bigint not null,
    carrier text not null,
    claimed_by bigint not null,
    priority bigint not null,
    due_at_ms bigint not null,
    batch_id bigint not null,
    claimed_until_ms bigint not null,
    message_id bytea not null,
    kind text not null,
    leg bigint not null,
    tries bigint not null,
    suffixed boolean not null,
    pages bigint not null,
    charge bigint not null,
    reserve bigint not null,
    expires_at_ms bigint not null,
    recipients bytea not null,
    primary key (bucket, carrier, claimed_by, priority, due_at_ms, batch_id)
);

-- One recipient of a message, from the moment it is submitted or has come to an end.
create table deliveries (
    bucket bigint not null,
    message_id bytea not null,
    recipient bigint not null,
    status text not null,
    leg bigint not null,
    failed_legs bigint not null default 0,
    pages bigint not null,
    delivered_first bigint not null default 0,
    delivered_second bigint not null default 0,
    gave_up boolean not null default false,
    suffixed boolean not null,
    charge bigint not null,
    reserve bigint not null,
    carrier text not null,
    submitted_at_ms bigint not null,
    settled_at_ms bigint,
    error text,
    primary key (bucket, message_id, recipient)
);
-- Without the bucket, by which SQLite would rather read all deliveries.
create index deliveries_in_doubt on deliveries (carrier, recipient) where status = 'in_doubt';

-- The carrier's id of each page, by which its receipts find the recipient.
create table parts (
    bucket bigint not null,
    carrier text not null,
    carrier_id text not null,
    message_id bytea not null,
    recipient bigint not null,
    leg bigint not null,
    page bigint not null,
    delivered boolean not null default false,
    primary key (bucket, carrier, carrier_id, message_id, recipient, leg, page)
);

-- Receipts that came before their response, or from nowhere.
create table parked_receipts (
    bucket bigint not null,
    carrier text not null,
    carrier_id text not null,
    received_at_ms bigint not null,
    number bigint not null,
    recipient bigint not null,
    sender text not null,
    state text not null,
    error text,
    primary key (bucket, carrier, carrier_id, received_at_ms, number)
);

create table callbacks (
    bucket bigint not null,
    state text not null,
    account_id bigint not null,
    origin text not null,
    due_at_ms bigint not null,
    message_id bytea not null,
    recipient bigint not null,
    status text not null,
    attempts bigint not null,
    claimed_by bigint not null,
    claimed_until_ms bigint not null,
    primary key (bucket, state, account_id, origin, due_at_ms, message_id, recipient)
);
