-- The schema for PostgreSQL. Its twin for SQLite has the same tables, columns and rules.
--
-- Columns that end in `_ms` are Unix milliseconds, in `_s` Unix seconds. Money is ten-thousandths of a naira.
-- The application makes all ids. `bucket` leads every key of the message tables, so that they can be distributed by it.
-- In tables that grow with the traffic, wide columns come first, so that alignment leaves no gaps.

-- Accounts

-- The customers.
create table accounts (
    account_id bigint not null primary key,
    email text not null,
    name text not null,
    status text not null,
    verification text not null,
    created_at_ms bigint not null
);

-- The accounts that belong to another account, with the prices of a page that it set. Both have one bucket, and the
-- number of a sub-account is the higher one. `stopped` is true while the last status by an operator is not active.
create table sub_accounts (
    account_id bigint not null primary key references accounts (account_id),
    parent_id bigint not null references accounts (account_id),
    prices text not null default '',
    stopped boolean not null default false
);
create index sub_accounts_by_parent on sub_accounts (parent_id, account_id);

-- The transfers between an account and its sub-accounts. A parent uses a reference once.
create table transfers (
    parent_id bigint not null references accounts (account_id),
    reference text not null,
    transfer_id bytea not null unique,
    account_id bigint not null references accounts (account_id),
    direction text not null,
    amount bigint not null,
    created_at_ms bigint not null,
    primary key (parent_id, reference)
);

-- The secrets that identify an account to the API, as hashes. `allowed` lists address ranges with commas between
-- them; an empty list allows every address. `scopes` lists the scopes with commas. A token without `expires_at_ms` does
-- not expire, and one without `per_minute` has the limits of its account alone. `used_at_ms` is stored once a minute.
create table tokens (
    token_id text not null primary key,
    account_id bigint not null references accounts (account_id),
    name text not null,
    hash bytea not null unique,
    created_at_ms bigint not null,
    revoked_at_ms bigint,
    expires_at_ms bigint,
    allowed text not null default '',
    scopes text not null,
    per_minute bigint,
    used_at_ms bigint
);
create index tokens_by_account on tokens (account_id, created_at_ms, token_id);

-- The credentials with which the programs of an account bind by SMPP. The password is an argon2id hash. `unanswered` is
-- the window of a connection. Without `gateway`, the default gateway is used. With `latin_1`, `data_coding` 0 is Latin 1.
create table smpp_users (
    system_id text not null primary key,
    account_id bigint not null references accounts (account_id),
    password_hash text not null,
    sandbox boolean not null,
    binds bigint not null,
    per_second bigint not null,
    unanswered bigint not null,
    allowed text not null default '',
    gateway text,
    vendor_statuses boolean not null default false,
    latin_1 boolean not null default false,
    created_at_ms bigint not null,
    revoked_at_ms bigint
);
create index smpp_users_by_account on smpp_users (account_id, created_at_ms, system_id);

-- The names and numbers that an account may show as sender, and the decision on each.
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
create index sender_ids_by_account on sender_ids (account_id, created_at_ms, sender_key);
create index sender_ids_pending on sender_ids (created_at_ms, account_id, sender_key) where status = 'pending';

-- The accounts that are stopped, and the fate of their queued recipients. An account that may send has no row.
create table holds (
    account_id bigint primary key,
    status text not null,
    queued text not null
);

-- The blocks of numbers to which an account does not send for a while. A block is a number without its last three
-- digits.
create table paused_blocks (
    account_id bigint not null references accounts (account_id),
    block bigint not null,
    paused_at_ms bigint not null,
    until_ms bigint not null,
    primary key (account_id, block)
);
create index paused_blocks_by_time on paused_blocks (paused_at_ms, account_id, block);

-- The secrets that sign callbacks, in clear text. `ends_at_ms` is null until a newer secret replaces one.
create table callback_secrets (
    account_id bigint not null references accounts (account_id),
    secret_id text not null,
    secret text not null,
    created_at_ms bigint not null,
    ends_at_ms bigint,
    primary key (account_id, secret_id)
);
create index callback_secrets_by_account on callback_secrets (account_id, created_at_ms, secret_id);

-- The requests that nodes have reserved from an account's rate limit in the last minute: the start of the newest slot,
-- and the packed counts. The rows may be lost with the server. There is no second index, which each request would write.
create table rates (
    account_id bigint not null,
    sandbox boolean not null,
    kind text not null,
    newest_ms bigint not null,
    counts bytea not null,
    primary key (account_id, sandbox, kind)
);

-- The refused requests of an account in the last days, for the request log of the console. The rows may be lost with the
-- server. They have no secret, no number and no text of a message.
create table refused_requests (
    account_id bigint not null,
    at_ms bigint not null,
    request_id text not null,
    token_id text not null,
    method text not null,
    route text not null,
    status bigint not null,
    code text not null,
    message text not null,
    took_ms bigint not null,
    primary key (account_id, at_ms, request_id)
);
create index refused_requests_by_time on refused_requests (at_ms, account_id, request_id);

-- Users

-- The people who sign in to the console. `email` is in lower case. A user without `password`, an argon2id hash, sets one
-- over a one-time link. `totp_step` is the last step of the second factor that was used; it is null until the user has
-- confirmed `totp_secret`. `recovery_codes` lists hashes with commas between them.
create table users (
    user_id bigint not null primary key,
    email text not null unique,
    name text not null,
    status text not null,
    password text,
    totp_secret bytea,
    totp_step bigint,
    recovery_codes text not null default '',
    created_at_ms bigint not null
);

-- The roles of users in accounts. `account_id` is 0 for an operator.
create table memberships (
    user_id bigint not null references users (user_id),
    account_id bigint not null,
    role text not null,
    created_at_ms bigint not null,
    primary key (user_id, account_id)
);
create index memberships_by_account on memberships (account_id, user_id);

-- The sessions of users, by the hash of their secret. `account_id` is the account whose pages a session shows, or 0. A
-- session is not `signed_in` while the second factor is missing. An ended session has no row.
create table sessions (
    session_hash bytea not null primary key,
    user_id bigint not null references users (user_id),
    account_id bigint not null,
    signed_in boolean not null,
    created_at_ms bigint not null,
    seen_at_ms bigint not null,
    expires_at_ms bigint not null,
    client text not null,
    agent text not null
);
create index sessions_by_user on sessions (user_id, seen_at_ms);
create index sessions_by_end on sessions (expires_at_ms);

-- The links that are good once, by the hash of their secret. A set-up link has no user. `role` is null unless the link
-- makes a member.
create table one_time_links (
    link_hash bytea not null primary key,
    purpose text not null,
    user_id bigint references users (user_id),
    account_id bigint not null,
    role text,
    created_at_ms bigint not null,
    expires_at_ms bigint not null,
    used_at_ms bigint
);
create index one_time_links_by_user on one_time_links (user_id, purpose);
create index one_time_links_by_account on one_time_links (account_id, purpose, created_at_ms);
create index one_time_links_by_end on one_time_links (expires_at_ms);

-- The failed sign-ins by user, whether it exists or not, and by address. An attempt counts until it succeeds.
create table sign_in_failures (
    subject text not null primary key,
    failures bigint not null,
    last_at_ms bigint not null
);
create index sign_in_failures_by_time on sign_in_failures (last_at_ms);

-- The passkeys of users, by the id that the authenticator made. `public_key` and `state`, which has the counter of
-- uses, are in the form of the library that checks them.
create table passkeys (
    credential_id bytea not null primary key,
    user_id bigint not null references users (user_id),
    name text not null,
    public_key bytea not null,
    state bytea not null,
    transports bigint not null,
    created_at_ms bigint not null,
    used_at_ms bigint
);
create index passkeys_by_user on passkeys (user_id, created_at_ms);

-- The challenges that wait for the answer of a passkey, by the hash of the secret that the browser has. Each is good
-- once. One that adds a passkey has the user, and one of a sign-in has none.
create table passkey_challenges (
    challenge_hash bytea not null primary key,
    user_id bigint references users (user_id),
    client text not null,
    state bytea not null,
    expires_at_ms bigint not null
);
create index passkey_challenges_by_client on passkey_challenges (client, expires_at_ms);
create index passkey_challenges_by_end on passkey_challenges (expires_at_ms);

-- Wallets

-- The six balances of an account. `spent_today` is the sum of charges on `spent_day`, in days of Lagos since 1970.
-- A wallet without `limit_per_day` has no daily limit. `sells` is true for an account with sub-accounts. Its
-- `universal_wallet` may be below zero, after refunds that took margins back.
create table wallets (
    bucket smallint not null,
    account_id bigint not null,
    promo_bonus bigint not null default 0 check (promo_bonus >= 0),
    volume_bonus bigint not null default 0 check (volume_bonus >= 0),
    sms_bonus bigint not null default 0 check (sms_bonus >= 0),
    sms_wallet bigint not null default 0 check (sms_wallet >= 0),
    main_balance bigint not null default 0 check (main_balance >= 0),
    universal_wallet bigint not null default 0 check (universal_wallet >= 0 OR sells),
    limit_per_day bigint,
    spent_day bigint not null default 0,
    spent_today bigint not null default 0,
    sells boolean not null default false,
    primary key (bucket, account_id)
);

-- All movements of money. `subject` is the message, or the id of a credit. `recipient` is 0 except in a refund of one
-- recipient. The primary key makes a second charge or refund impossible.
create table ledger (
    account_id bigint not null,
    recipient bigint not null,
    amount bigint not null,
    created_at_ms bigint not null,
    bucket smallint not null,
    subject bytea not null,
    kind text not null,
    component text not null,
    reference text,
    primary key (bucket, account_id, subject, kind, recipient, component)
);
create unique index ledger_credits on ledger (bucket, account_id, reference) where kind = 'credit';
create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'the ledger is append-only';
end
$$;
create trigger ledger_keeps_entries before update or delete on ledger
for each row execute function refuse_change();

-- The top-ups: payments of customers over a provider. `account_id` is 0 where a payment named no top-up of ours. `vat_rate`
-- is in hundredths of a percent. The sweep asks the provider while `watched`. `payment_id`, `received` and `currency` are
-- those of the provider, and an operator decides at `decided_at_ms` about a mismatch. Receipts of each environment are
-- numbered without gaps.
create table top_ups (
    top_up_id bytea not null primary key,
    account_id bigint not null,
    sandbox boolean not null,
    provider text not null,
    reference text not null,
    amount bigint not null,
    vat bigint not null,
    vat_rate bigint not null,
    bonus bigint not null,
    component text not null,
    state text not null,
    watched boolean not null,
    created_at_ms bigint not null,
    expires_at_ms bigint not null,
    checked_at_ms bigint not null,
    checkout_url text not null,
    return_url text,
    payment_id text,
    received bigint,
    currency text,
    mismatch text,
    decided_at_ms bigint,
    paid_at_ms bigint,
    receipt_number bigint,
    unique (provider, reference)
);
create index top_ups_by_account on top_ups (account_id, top_up_id);
create index top_ups_watched on top_ups (checked_at_ms, top_up_id) where watched;
create index top_ups_by_payment on top_ups (sandbox, paid_at_ms) where paid_at_ms is not null;
create index top_ups_by_state on top_ups (sandbox, state, top_up_id);
create unique index top_ups_by_receipt on top_ups (sandbox, receipt_number) where receipt_number is not null;

-- The alerts of accounts about a low balance. `below` is true from the moment at which the balance fell below the threshold
-- until it is above again. The receiver is a URL or an address. `mail_due_ms` is the time of the next attempt at a mail,
-- which has `told_balance`.
create table alerts (
    alert_id text not null primary key,
    account_id bigint not null,
    threshold bigint not null,
    url text,
    email text,
    below boolean not null,
    created_at_ms bigint not null,
    told_at_ms bigint,
    told_balance bigint,
    mail_due_ms bigint
);
create index alerts_by_account on alerts (account_id, created_at_ms, alert_id);
create index alerts_with_mail on alerts (mail_due_ms, alert_id) where mail_due_ms is not null;

-- Messages

-- The accepted sends. `recipients` is a packed list. `paid_from` names the wallet components that paid, and their
-- shares where there are several. `otp_id` is not null in a one-time password. A receiver that answers 410 sets `callbacks_ended`; no other column changes.
-- `due_at_ms` is null in a message that is due when it is accepted; its id tells when that was. `validity_s` is that of
-- the request. `pages_total` counts the pages of all recipients, and `page_count` the most of one.
-- A paused message has `paused_at_ms`. `paused_for_ms` is the length of earlier pauses, by which a resume moved
-- `due_at_ms`. `cancelled_at_ms` is the end of a cancel. `changes` lists the last pauses and resumes with their times.
-- `receipts_to` is the SMPP user that gets receipts, and `receipts_wanted` says of which statuses. `raw_page` is the page
-- of a message by SMPP that goes out as it came: `data_coding`, 1 if there is a user data header, and the octets.
-- In a message of a sub-account, `parent_id` got `cost` less `parent_cost`, and `margins` packs its part of each recipient.
create table messages (
    account_id bigint not null,
    cost bigint not null,
    due_at_ms bigint,
    pages_total bigint not null,
    paused_at_ms bigint,
    paused_for_ms bigint,
    cancelled_at_ms bigint,
    page_count integer not null,
    validity_s integer,
    bucket smallint not null,
    sandbox boolean not null,
    refund_undelivered boolean not null,
    two_legs boolean not null,
    callbacks_ended boolean not null default false,
    message_id bytea not null,
    recipients bytea not null,
    paid_from text not null,
    body text,
    otp_id bytea,
    gateway text not null,
    sender text not null,
    callback_url text,
    customer_reference text,
    receipts_to text,
    receipts_wanted text,
    raw_page bytea,
    changes text,
    parent_id bigint,
    parent_cost bigint,
    margins bytea,
    primary key (bucket, message_id)
);
create index messages_of_sandbox on messages (bucket, message_id) where sandbox;
create index messages_by_due_time on messages (bucket, due_at_ms, message_id) where due_at_ms is not null;
create index messages_by_reference on messages (account_id, customer_reference, message_id) where customer_reference is not null;

-- The times at which an account sent, for its lists (decision 0043). Where `sender_key` is empty, a row stands for all
-- messages of 8 ms. Otherwise it stands for the messages of one sender in a minute. `from_ms` is the beginning.
create table message_times (
    account_id bigint not null,
    from_ms bigint not null,
    bucket smallint not null,
    sandbox boolean not null,
    sender_key text not null,
    primary key (bucket, account_id, sandbox, sender_key, from_ms)
);

-- The index of recipients (decision 0043), in runs that a sweep builds and merges. A run covers a span of acceptance
-- times. `state` is 0 while it is built, 1 once it is complete, and 2 while it is removed.
create table recipient_runs (
    bucket smallint not null,
    run_id bigint not null,
    from_ms bigint not null,
    until_ms bigint not null,
    unit_ms bigint not null,
    recipients bigint not null,
    state smallint not null,
    primary key (bucket, run_id)
);

-- The postings of runs in ascending order. `domain/src/search/recipient_runs.rs` defines their bytes.
create table recipient_postings (
    bucket smallint not null,
    run_id bigint not null,
    first_posting bigint not null,
    postings bytea not null,
    primary key (bucket, run_id, first_posting)
);

-- The texts of personalised messages, whose `body` is null. A row holds recipients with adjacent numbers, the lowest of
-- which is `first_recipient`. `texts` is a JSON object of texts by number.
create table recipient_texts (
    bucket smallint not null,
    message_id bytea not null,
    first_recipient bigint not null,
    texts text not null,
    primary key (bucket, message_id, first_recipient)
);

-- The customer's references of single recipients, where they replace the reference of a personalised message.
create table recipient_references (
    bucket smallint not null,
    message_id bytea not null,
    recipient bigint not null,
    customer_reference text not null,
    primary key (bucket, message_id, recipient)
);

-- The duplicate windows that are open. SQLite finds them by another key (decision 0017).
create table recent_sends (
    bucket smallint not null,
    fingerprint bytea not null,
    expires_at_ms bigint not null,
    primary key (bucket, fingerprint)
);
create index recent_sends_by_end on recent_sends (bucket, expires_at_ms);

-- The answers of requests with an idempotency key, each committed with the change that it answers. `request` is a hash
-- of operation and fields. A row is removed when its window ends.
create table idempotency_keys (
    account_id bigint not null,
    kept_at_ms bigint not null,
    bucket smallint not null,
    status smallint not null,
    sandbox boolean not null,
    request bytea not null,
    message_id bytea,
    key text not null,
    body text not null,
    primary key (bucket, account_id, sandbox, key)
);
create index idempotency_keys_by_time on idempotency_keys (bucket, kept_at_ms);

-- The one-time passwords. The code is nowhere: it is derived from a server key and `otp_id`. `sent_times` lists the times
-- of its messages, `message_id` is the last of them, and `body` has a place for the code.
create table otps (
    bucket smallint not null,
    otp_id bytea not null,
    account_id bigint not null,
    sandbox boolean not null,
    recipient bigint not null,
    message_id bytea not null,
    kind text not null,
    length bigint not null,
    created_at_ms bigint not null,
    expires_at_ms bigint not null,
    max_attempts bigint not null,
    wrong_attempts bigint not null,
    verified boolean not null,
    cancelled boolean not null,
    last_change bigint,
    sent_times text not null,
    sender text not null,
    body text not null,
    callback_url text,
    customer_reference text,
    primary key (bucket, otp_id)
);
create index otps_by_number on otps (bucket, account_id, recipient, created_at_ms);
create index otps_by_time on otps (bucket, created_at_ms);

-- The keys of the server, made at random when they are first needed.
create table server_keys (
    name text not null primary key,
    key bytea not null
);

-- Batches

-- The recipients of one message, for one carrier, that are not accounted for. `claimed_by` is the node that
-- submits them, 0 for none, -1 while the account may not send, or -2 while the message is paused. A claimed recipient
-- without a delivery may have been sent. A claimed batch is `stopped` if its node holds no unsent recipient of it.
create table batches (
    bucket smallint not null,
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
    stopped boolean not null default false,
    primary key (bucket, carrier, claimed_by, priority, due_at_ms, batch_id)
);

-- The messages whose unsent recipients must leave the memory of the nodes, for a pause or a cancel. The row of a cancel
-- goes when its last recipient has ended.
create table stops (
    bucket smallint not null,
    message_id bytea not null,
    cancels boolean not null,
    requested_at_ms bigint not null,
    primary key (bucket, message_id)
);

-- Deliveries

-- One recipient of a message that was submitted or has a final status. Null stands for the usual value: no failed leg,
-- nothing delivered of a leg, no reserve, not given up, no suffix. `delivered_first` and `delivered_second` have a bit
-- for each page. `doubts` lists the pages in doubt by leg with their carriers, such as `1:3:mtn,glo`.
-- The fill factor leaves room for each row of a page to settle in place, where it becomes some bytes longer.
create table deliveries (
    recipient bigint not null,
    charge bigint not null,
    submitted_at_s integer not null,
    settled_at_s integer,
    delivered_first bigint,
    bucket smallint not null,
    leg smallint not null,
    pages smallint not null,
    status text not null,
    message_id bytea not null,
    carrier text not null,
    reserve bigint,
    delivered_second bigint,
    failed_legs smallint,
    gave_up boolean,
    suffixed boolean,
    error text,
    doubts text,
    primary key (bucket, message_id, recipient)
) with (fillfactor = 48);
-- The condition names a column that few deliveries have, so that a settle does not write this index.
create index deliveries_in_doubt on deliveries (recipient) where doubts is not null;

-- The carrier's ids of pages, by which receipts find their recipients. Ids that differ in the last character and were
-- submitted in the same hour share a row. `store/src/deliveries/carrier_ids/stored.rs` defines the bytes of `pages`.
create table carrier_ids (
    submitted_hour_ms bigint not null,
    bucket smallint not null,
    carrier text not null,
    prefix text not null,
    pages bytea not null,
    primary key (bucket, carrier, prefix, submitted_hour_ms)
) with (fillfactor = 90);

-- The receipts that match no page, such as those that came before their response. A receipt may name two ids.
create table parked_receipts (
    bucket smallint not null,
    carrier text not null,
    carrier_id text not null,
    received_at_ms bigint not null,
    number bigint not null,
    recipient bigint not null,
    sender text not null,
    state text not null,
    error text,
    other_id text,
    raw bytea,
    primary key (bucket, carrier, carrier_id, received_at_ms, number)
);
create index parked_receipts_by_time on parked_receipts (bucket, received_at_ms);
create index parked_receipts_by_recipient on parked_receipts (bucket, recipient);

-- The messages whose state a carrier by HTTP is asked for, because it posts no receipts. A row goes with the final state,
-- or with the last request at `ends_at_ms`.
create table receipt_polls (
    carrier text not null,
    carrier_id text not null,
    due_at_ms bigint not null,
    ends_at_ms bigint not null,
    primary key (carrier, carrier_id)
);
create index receipt_polls_by_due on receipt_polls (carrier, due_at_ms);
create index receipt_polls_by_end on receipt_polls (ends_at_ms);

-- The receipts that changed recipients, as their carriers sent them. A row has those of one message, one carrier and one
-- commit, at most 200. `receipts` is a `domain::raw_receipt_list`, in the order of the recipients. `number` tells rows of
-- one millisecond apart.
create table raw_receipts (
    bucket smallint not null,
    message_id bytea not null,
    received_at_ms bigint not null,
    number bigint not null,
    carrier text not null,
    first_recipient bigint not null,
    last_recipient bigint not null,
    receipts bytea not null,
    primary key (bucket, message_id, received_at_ms, number)
);

-- Outbox

-- The events for customers that wait (`due`), are in flight (`claimed`), or were given up (`dead`). A delivered event has no
-- row. `kind` says how to read `subject` and `payload`: a message and the status of its recipient, or an inbound message
-- and the callback URL. There `recipient` is the number that it was sent to. A receipt has a message, and the end of its
-- recipient. `destination` is the origin of a callback URL, or `smpp:` and an SMPP user; events of one destination share a
-- lane.
create table outbox (
    bucket smallint not null,
    state text not null,
    account_id bigint not null,
    sandbox boolean not null default false,
    destination text not null,
    due_at_ms bigint not null,
    event_id bytea not null,
    kind text not null,
    subject bytea not null,
    recipient bigint not null,
    payload text not null,
    attempts bigint not null,
    claimed_by bigint not null,
    claimed_until_ms bigint not null,
    primary key (bucket, state, account_id, sandbox, destination, due_at_ms, event_id)
);
create index outbox_of_dead on outbox (bucket, account_id, due_at_ms, event_id) where state = 'dead';
create index outbox_of_sandbox on outbox (bucket, subject) where sandbox;

-- The attempts at callbacks that failed, and the success that ended such a series. Message ids grow with time, so the
-- key finds old rows.
create table callback_attempts (
    bucket smallint not null,
    message_id bytea not null,
    recipient bigint not null,
    made_at_ms bigint not null,
    account_id bigint not null,
    attempt bigint not null,
    result text not null,
    took_ms bigint not null,
    answer text not null,
    primary key (bucket, message_id, recipient, made_at_ms)
);

-- Inbound

-- The accounts to which the messages to a number belong. The empty keyword stands for all texts that no other route of the
-- number takes. `given` is true in a route that an operator made. The messages go to `url`, or to `smpp_user`.
create table inbound_routes (
    route_id text not null primary key,
    number text not null,
    keyword text not null,
    account_id bigint not null references accounts (account_id),
    url text,
    smpp_user text,
    given boolean not null,
    created_at_ms bigint not null,
    unique (number, keyword)
);
create index inbound_routes_by_account on inbound_routes (account_id, created_at_ms, route_id);

-- The pages of inbound messages as carriers delivered them, until they are joined. Pages of one message share addresses,
-- `reference` and `total`. A message of one page has its `page_id` as reference.
create table inbound_pages (
    page_id bigint not null primary key,
    carrier text not null,
    sender text not null,
    number text not null,
    reference bigint not null,
    total bigint not null,
    page bigint not null,
    data_coding bigint not null,
    octets bytea not null,
    received_at_ms bigint not null
);
create index inbound_pages_by_message on inbound_pages (carrier, sender, number, reference, total, page, received_at_ms);

-- The pages of the last minute, by which a repetition is known. `connection` is the one that delivered the page to `node`.
-- It has `ended` if the node said so before it went.
create table inbound_arrivals (
    carrier text not null,
    fingerprint bytea not null,
    connection bigint not null,
    node bigint not null,
    ended boolean not null default false,
    received_at_ms bigint not null,
    primary key (carrier, fingerprint, connection)
);
create index inbound_arrivals_by_connection on inbound_arrivals (connection);
create index inbound_arrivals_by_time on inbound_arrivals (received_at_ms);

-- The inbound messages. `account_id` is 0 where no route takes the text, and the message belongs to the operator. `body` is
-- null once retention has removed it. `in_reply_to` is the account's last message to the sender.
create table inbound_messages (
    inbound_id bytea not null primary key,
    account_id bigint not null,
    route_id text,
    carrier text not null,
    number text not null,
    sender text not null,
    keyword text not null,
    complete boolean not null,
    in_reply_to bytea,
    received_at_ms bigint not null,
    body text
);
create index inbound_messages_by_account on inbound_messages (account_id, inbound_id);
create index inbound_messages_with_body on inbound_messages (inbound_id) where body is not null;

-- The numbers that opted out of the messages of an account. `sender_key` is the compared form of a sender ID, or nothing if
-- no message of the account goes to the number. Ids grow with time.
create table opt_outs (
    account_id bigint not null references accounts (account_id),
    recipient bigint not null,
    sender_key text not null,
    opt_out_id bytea not null,
    sender text not null,
    reason text not null,
    created_at_ms bigint not null,
    primary key (account_id, recipient, sender_key)
);
create unique index opt_outs_by_id on opt_outs (account_id, opt_out_id);

-- The accounts that have had an opt-out, with the number of their opt-outs. The sends of all others need not look for
-- opt-outs.
create table opt_out_accounts (
    account_id bigint not null primary key references accounts (account_id),
    opt_outs bigint not null
);

-- The texts that answer the commands of subscribers. An empty text is no answer.
create table answer_texts (
    account_id bigint not null primary key references accounts (account_id),
    stop_text text not null,
    start_text text not null,
    help_text text not null
);

-- The answers that wait to be sent, by the inbound message that each answers.
create table waiting_answers (
    inbound_id bytea not null primary key,
    account_id bigint not null references accounts (account_id),
    number text not null,
    recipient bigint not null,
    body text not null,
    kept_at_ms bigint not null
);

-- The Nigerian numbers on DND, which gateways with `respect_dnd` send nothing to, in blocks of 8,192 numbers. `members` is
-- a list of up to 511 places of 16 bit, or a map of 8,192 bits.
create table dnd_blocks (
    block bigint not null primary key,
    numbers bigint not null,
    members bytea not null
);

-- Cluster

-- The nodes that share this database. Each raises its beat every second; a node whose beat stands still is dead.
create table nodes (
    node bigint not null primary key,
    name text not null,
    beat bigint not null
);

-- The connections that the configuration allows to a carrier, and the node that holds each.
create table binds (
    carrier text not null,
    slot bigint not null,
    node bigint not null,
    bound boolean not null default false,
    primary key (carrier, slot)
);

-- The SMPP users that are bound to each node, for operators.
create table smpp_binds (
    node bigint not null,
    system_id text not null,
    connections bigint not null,
    primary key (node, system_id)
);

-- Operators

-- The changes that operators made, numbered without gaps: the actor, the command, and the object before and after as
-- JSON without tokens, secrets and whole numbers.
create table audit (
    number bigint not null primary key,
    at_ms bigint not null,
    actor text not null,
    verb text not null,
    account_id bigint references accounts (account_id),
    object text not null,
    before text not null,
    after text not null
);
create function refuse_change_of_audit() returns trigger language plpgsql as $$
begin
    raise exception 'the audit is append-only';
end
$$;
create trigger audit_keeps_entries before update or delete on audit
for each row execute function refuse_change_of_audit();

-- The prohibited phrases beside those of the configuration: lower-case words with a space between them.
create table content_rules (
    phrase text not null primary key,
    added_at_ms bigint not null
);

-- The carriers that an operator paused, drained or throttled. A carrier without a row runs by its configuration.
create table carrier_controls (
    carrier text not null primary key,
    mode text not null,
    max_per_second bigint,
    changed_at_ms bigint not null,
    changed_by text not null
);

-- Contacts

-- The groups of contacts that customers keep until they remove them.
create table contact_groups (
    group_id bigint not null primary key,
    account_id bigint not null references accounts (account_id),
    name text not null,
    created_at_ms bigint not null,
    unique (account_id, name)
);
create table contacts (
    group_id bigint not null references contact_groups (group_id),
    recipient bigint not null,
    name text not null,
    added_at_ms bigint not null,
    primary key (group_id, recipient)
);

-- Uploads

-- The files of recipients that customers are about to send to. An upload without parts is still being read.
create table uploads (
    upload_id bigint not null primary key,
    account_id bigint not null references accounts (account_id),
    name text not null,
    form text not null,
    row_count bigint not null,
    column_count bigint not null,
    part_count bigint not null,
    created_at_ms bigint not null,
    expires_at_ms bigint not null
);
create index uploads_by_account on uploads (account_id, created_at_ms);
create index uploads_by_end on uploads (expires_at_ms);

-- The rows of uploads, packed by `domain::upload`.
create table upload_parts (
    upload_id bigint not null references uploads (upload_id),
    part bigint not null,
    octets bytea not null,
    primary key (upload_id, part)
);

-- Upkeep

-- Numbers that survive a restart: the revision of the accounts, the last number of the audit, and the progress of
-- sweeps.
create table marks (
    name text not null primary key,
    value bigint not null
);
