//! Moving an embedded installation to PostgreSQL.

use database::Target;
use domain::callback::signature::{RANDOM_BYTES, Secret, Signing};
use domain::carrier_control::CarrierChange;
use domain::contacts::Contact;
use domain::dnd::DndNumbers;
use domain::http_carrier::PollTimes;
use domain::inbound::{AnswerChange, Command, InboundMessage, InboundRoute};
use domain::opt_out::OptOut;
use domain::payment::{
    CURRENCY, NewTopUp, Payment, PaymentStatus, Percent, Priced, Received, TopUp, TopUpId,
};
use domain::resale::{Direction, TransferRequest};
use domain::smpp_user::{Dialect, SmppLimits, SmppUser};
use domain::token::TokenTerms;
use domain::user::UserId;
use domain::user::link::LinkPurpose;
use domain::user::role::Role;
use domain::{
    AccountId, Component, DeliveryStatus, Environment, Gateway, NodeId, Recipient, SenderId,
    SenderStatus, Text,
};
use import::{ImportError, ImportStep, Imported, Watch, import};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use store::{
    Accepted, AddedRoute, ArrivedPage, CallbackSecret, CarrierReport, Challenge, Claim, Edit,
    Expiry, ImportState, Invited, Kept, KeptPages, Link, NewMessage, NewSession, NewUser, Outcome,
    Passkey, PasskeyAdded, PolledCarrier, Progress, Receipt, RouteOwner, Store, SubscriberCommand,
    TokenInfo, Transfer,
};
use storekit::{
    CARRIER, DAY, Fate, Kit, NOW, Sending, URL, backup_planner, by, claim, delivered, message_id,
    naira, number, receipt, report, sending, silence, taken, undelivered,
};

/// Tables that are not moved: rows that live some days at most, rows of the node itself, and rows that are made
/// anew.
const NOT_MOVED: [&str; 15] = [
    "recent_sends",
    "rates",
    "refused_requests",
    "recipient_runs",
    "recipient_postings",
    "sign_in_failures",
    "passkey_challenges",
    "inbound_arrivals",
    "uploads",
    "upload_parts",
    "marks",
    "nodes",
    "binds",
    "smpp_binds",
    "_migrations",
];

/// An installation with a row of every kind.
struct Source {
    kit: Kit,
    accounts: Vec<AccountId>,
    messages: Vec<(Fate, NewMessage)>,
    /// The recipient is in flight, and its receipt has arrived already.
    parked: NewMessage,
}

/// Returns the report of a carrier that is asked for states.
fn polled(report: CarrierReport) -> CarrierReport {
    let times = PollTimes {
        interval_ms: DAY,
        period_ms: DAY,
    };
    let polled = vec![PolledCarrier {
        carrier: CARRIER.into(),
        times,
    }];
    CarrierReport { polled, ..report }
}

async fn source() -> Source {
    let kit = Kit::sqlite().await;
    let mut accounts = Vec::new();
    for index in 0..5 {
        let id = kit.account(20_000).await;
        kit.credit(id, Component::ALL[index], 20).await;
        accounts.push(id);
    }
    customers(&kit, &accounts).await;
    users(&kit, accounts[0]).await;
    contacts(&kit, accounts[0]).await;
    inbound(&kit, accounts[0]).await;
    opt_outs(&kit, accounts[0]).await;
    top_ups(&kit, accounts[0]).await;
    let mut messages = Vec::new();
    for (index, fate) in Fate::ALL.into_iter().cycle().take(40).enumerate() {
        let at_ms = NOW - i64::try_from(index).unwrap() * DAY / 10;
        let account = accounts[index % accounts.len()];
        messages.push((fate, fate.of(&kit, account, at_ms).await));
    }
    let expiry = Expiry {
        gateway: Gateway::DirectRefund,
        over_before_ms: NOW - 3 * DAY,
        now_ms: NOW,
        planner: backup_planner(),
    };
    kit.expire(&expiry).await;
    // Each growing table has more rows than a chunk.
    let many = Sending {
        recipients: 2_500,
        first_number: 5_000_000,
        callback_url: Some(URL),
        ..sending(accounts[0])
    };
    let many = many.message(&kit.store);
    assert!(matches!(kit.accept(&many).await, Accepted::Yes { .. }));
    let claimed = kit.claim(5_000).await;
    let progress = claimed.iter().map(taken).collect();
    kit.report(polled(report(progress, vec![]))).await;
    kit.report(CarrierReport {
        callback_room: store::CallbackRoom::default(),
        ..report(
            vec![],
            many.draft
                .recipients
                .iter()
                .map(|&to| delivered(to))
                .collect(),
        )
    })
    .await;
    // PostgreSQL cannot store NUL.
    let mut odd = sending(accounts[1]).message(&kit.store);
    Arc::make_mut(&mut odd.draft).text = Text::from_stored("Kedu \0\u{1F600} 'ọ'\\".to_owned());
    kit.accept(&odd).await;
    let parked = Sending {
        first_number: 7_000_000,
        ..sending(accounts[2])
    };
    let parked = parked.message(&kit.store);
    kit.accept_and_claim(&parked).await;
    let to = parked.draft.recipients[0];
    let unknown = receipt("nobody", number(9), DeliveryStatus::Delivered);
    kit.report(report(vec![], vec![undelivered(to), unknown]))
        .await;
    Source {
        kit,
        accounts,
        messages,
        parked,
    }
}

/// A group with a contact, and a throttled carrier.
async fn contacts(kit: &Kit, account: AccountId) {
    let throttle = CarrierChange::Throttle(Some(5));
    let controls = kit.store.carrier_controls();
    let changed = controls.change(CARRIER.to_owned(), throttle, by(NOW));
    assert_eq!(changed.await.unwrap().max_per_second, Some(5));
    let contacts = kit.store.contacts();
    let created = contacts.create(account, (7, "Kano".to_owned()), NOW);
    created.await.unwrap();
    let ada = Contact {
        recipient: number(1),
        name: "Ada".to_owned(),
    };
    contacts.add(account, 7, vec![ada], NOW).await.unwrap();
}

/// A top-up that was paid, and so has the first receipt.
async fn top_ups(kit: &Kit, account: AccountId) {
    let new = NewTopUp {
        id: TopUpId::new(NOW, [7; 10]),
        account,
        environment: Environment::Live,
        provider: "paystack".to_owned(),
        price: Priced {
            amount: naira(1_000),
            vat: naira(75),
            vat_rate: Percent::from_hundredths(750),
            bonus: naira(50),
            component: Component::UniversalWallet,
        },
        checkout_url: "https://checkout.example.ng/1".to_owned(),
        return_url: Some("https://shop.example.ng/thanks".to_owned()),
        expires_ms: DAY,
    };
    let top_up = TopUp::new(new, NOW);
    let payment = Payment {
        reference: top_up.reference.clone(),
        status: PaymentStatus::Paid,
        received: Received {
            amount: top_up.total(),
            currency: CURRENCY.to_owned(),
            payment_id: "4099260516".to_owned(),
        },
    };
    let store = kit.store.top_ups();
    store.create(account, top_up.clone(), None).await.unwrap();
    let settled = store.settle(top_up.id, payment, NOW).await.unwrap();
    assert_eq!(settled.top_up.receipt_number, Some(1));
}

/// A user with a second factor, a session, and an open invitation.
async fn users(kit: &Kit, account: AccountId) {
    let user = NewUser {
        id: UserId(7),
        email: "ada@example.ng".to_owned(),
        name: "Ada".to_owned(),
        password: Some("hash".to_owned()),
    };
    let (store, owner) = (&kit.store, Role::Owner);
    let created = store.users().create(user, Some(account), owner, by(NOW));
    assert!(created.await.unwrap());
    for edit in [
        Edit::NewSecondFactor(vec![1; 20]),
        Edit::ConfirmSecondFactor(9, vec!["one".to_owned(), "two".to_owned()]),
    ] {
        let edited = store.users().edit(UserId(7), edit, None, by(NOW));
        assert!(edited.await.unwrap());
    }
    passkey(store).await;
    let session = NewSession {
        hash: hash(1),
        is_signed_in: true,
        expires_at_ms: NOW + DAY,
        client: "203.0.113.9".to_owned(),
        agent: "Firefox on Linux".to_owned(),
    };
    let added = store
        .sessions()
        .add(UserId(7), Some(account), session, by(NOW));
    added.await.unwrap();
    let invited = NewUser {
        id: UserId(8),
        email: "uche@example.ng".to_owned(),
        name: String::new(),
        password: None,
    };
    let link = Link {
        hash: hash(2),
        purpose: LinkPurpose::Invitation,
        user: None,
        account: Some(account),
        role: Some(Role::Viewer),
        created_at_ms: NOW,
        expires_at_ms: NOW + DAY,
        used_at_ms: None,
    };
    let invited = store.one_time_links().invite(invited, link, 9, by(NOW));
    assert_eq!(invited.await.unwrap(), Invited::Yes(UserId(8)));
}

/// A passkey that answered its challenge.
async fn passkey(store: &Store) {
    let challenge = Challenge {
        hash: hash(3),
        user: Some(UserId(7)),
        client: "203.0.113.9".to_owned(),
        state: vec![3; 40],
        expires_at_ms: NOW + DAY,
    };
    let passkey = Passkey {
        credential: vec![4; 32],
        user: UserId(7),
        name: "Phone".to_owned(),
        public_key: vec![5; 40],
        state: vec![6; 7],
        transports: 8,
        created_at_ms: NOW,
        used_at_ms: None,
    };
    let passkeys = store.users().passkeys();
    assert!(passkeys.begin(challenge.clone(), NOW).await.unwrap());
    let added = passkeys.add(challenge, passkey, by(NOW)).await.unwrap();
    assert_eq!(added, PasskeyAdded::Yes);
}

/// A route, a message, and a page that waits for the others.
async fn inbound(kit: &Kit, account: AccountId) {
    let routes = kit.store.inbound_routes();
    let route = InboundRoute {
        id: "rt_1".to_owned(),
        number: "32811".to_owned(),
        keyword: String::new(),
        account,
        url: Some("https://shop.example.ng/in".to_owned()),
        smpp_user: Some("og7mk2x4pa".to_owned()),
        is_given: true,
        created_at_ms: NOW,
    };
    let added = routes.add(route, RouteOwner::Operator, by(NOW));
    assert!(matches!(added.await.unwrap(), AddedRoute::Added(_)));
    let page = |id, total| ArrivedPage {
        id,
        carrier: CARRIER.to_owned(),
        sender: "2348031234567".to_owned(),
        number: "32811".to_owned(),
        reference: id,
        total,
        page: 1,
        data_coding: 8,
        octets: vec![0x1E, 0xCC],
        received_at_ms: NOW,
        fingerprint: [u8::try_from(id).unwrap(); 16],
        connection: 7,
    };
    let pages = KeptPages {
        pages: vec![page(1, 1), page(2, 3)],
        ..KeptPages::default()
    };
    let inbound_pages = kit.store.inbound_pages();
    inbound_pages.keep(NodeId(1), pages).await.unwrap();
    let message = InboundMessage {
        id: message_id(NOW),
        account: Some(account),
        route: Some("rt_1".to_owned()),
        carrier: CARRIER.to_owned(),
        number: "32811".to_owned(),
        sender: "2348031234567".to_owned(),
        keyword: String::new(),
        complete: true,
        in_reply_to: Some(message_id(NOW - 1)),
        received_at_ms: NOW,
        body: Some("Ọ".to_owned()),
    };
    let inbound = kit.store.inbound_messages();
    let command = SubscriberCommand {
        account,
        recipient: number(2),
        command: Command::Stop,
        word: "stop".to_owned(),
        at_ms: NOW,
    };
    let answers = kit.store.inbound_answers();
    let change = AnswerChange {
        stop: Some("You are out.".to_owned()),
        ..AnswerChange::default()
    };
    let set = answers.set_texts(account, change, None, by(NOW)).await;
    assert!(matches!(set.unwrap(), Outcome::Made(_)));
    let kept = inbound.keep(message, vec![1], (None, Some(command)));
    assert_eq!(kept.await.unwrap(), Kept::WithAnswer);
}

/// A number that opted out of one sender ID, and one on DND.
async fn opt_outs(kit: &Kit, account: AccountId) {
    let opt_out = OptOut {
        id: message_id(NOW),
        account,
        recipient: number(1),
        sender: Some("Ada Foods".to_owned()),
        reason: Some("complaint".to_owned()),
        created_at_ms: NOW,
    };
    let opt_outs = kit.store.opt_outs();
    let added = opt_outs
        .add(account, (vec![opt_out], None), None, by(NOW))
        .await;
    assert!(matches!(added.unwrap(), Outcome::Made(_)));
    let mut numbers = DndNumbers::default();
    assert!(numbers.insert(number(3)));
    let dnd = kit.store.dnd().add(numbers.into_blocks(), 1, by(NOW));
    assert_eq!(dnd.await.unwrap(), 1);
}

/// A sub-account that was given money, and pays its parent for a send.
async fn sub_accounts(kit: &Kit, parent: AccountId) {
    let account = kit.sub_account(parent, 0).await;
    let transfer = Transfer {
        id: message_id(NOW),
        account,
        request: TransferRequest {
            amount: naira(10),
            direction: Direction::ToSub,
            reference: "june".to_owned(),
        },
        created_at_ms: NOW,
    };
    let accounts = kit.store.sub_accounts();
    let moved = accounts.transfer(parent, transfer, None, by(NOW)).await;
    assert!(matches!(moved.unwrap(), Outcome::Made(_)));
    let send = Sending {
        parent: Some((parent, 2)),
        ..sending(account)
    };
    kit.accepted(&send).await;
}

/// The times and addresses at which a token is valid.
fn terms(index: usize) -> TokenTerms {
    TokenTerms {
        expires_at_ms: (index == 0).then_some(NOW + DAY),
        allowed: ["203.0.113.0/24", ""][index % 2].parse().unwrap(),
        scopes: ["send", ""][index % 2].parse().unwrap(),
        per_minute: (index == 0).then_some(600),
    }
}

/// Tokens, sender IDs and signing secrets in all their states.
async fn customers(kit: &Kit, accounts: &[AccountId]) {
    sub_accounts(kit, accounts[0]).await;
    for (index, &id) in accounts.iter().enumerate() {
        let token = TokenInfo {
            id: format!("tok-{index}"),
            account: id,
            name: "shop".to_owned(),
            terms: terms(index),
            created_at_ms: NOW,
            revoked_at_ms: None,
        };
        kit.store
            .tokens()
            .add(token, hash(index), by(NOW))
            .await
            .unwrap();
        let user = SmppUser {
            system_id: format!("og-{index}"),
            account: id,
            sandbox: index == 1,
            limits: SmppLimits::default(),
            allowed: terms(index).allowed,
            gateway: Some(Gateway::Otp),
            dialect: Dialect {
                vendor_statuses: index == 1,
                latin_1: index != 1,
            },
            created_at_ms: NOW,
            revoked_at_ms: None,
        };
        let users = kit.store.smpp_users();
        users.add(user, "hash".to_owned(), by(NOW)).await.unwrap();
        let name = format!("Shop {index}");
        let sender = SenderId {
            name: name.clone(),
            status: SenderStatus::Pending,
            purpose: "Orders".to_owned(),
            international: index % 2 == 0,
            approved_at_ms: None,
            rejection_reason: None,
        };
        assert!(kit.store.senders().add(id, sender, by(NOW)).await.unwrap());
        let status = SenderStatus::ALL[index % SenderStatus::ALL.len()];
        let set = kit
            .store
            .senders()
            .set_status(id, &name, status, Some("Unclear"), by(NOW));
        assert!(set.await.unwrap());
    }
    assert!(kit.store.tokens().revoke("tok-1", by(NOW)).await.unwrap());
    for (byte, others) in [(1, 0..=0), (2, 1..=1)] {
        let secret = CallbackSecret {
            account: accounts[0],
            created_at_ms: NOW,
            signing: Signing {
                secret: Secret::make(&[byte; RANDOM_BYTES]),
                ends_at_ms: None,
            },
        };
        let added = kit
            .store
            .callback_secrets()
            .add(secret, others, NOW + 9, by(NOW));
        added.await.unwrap();
    }
}

fn hash(index: usize) -> [u8; 32] {
    [u8::try_from(index).unwrap(); 32]
}

fn unwatched() -> Watch {
    Arc::new(|_| {})
}

async fn import_from(target: &Kit, source: &Store) -> Result<Imported, ImportError> {
    import(&target.store, source, NOW, unwatched()).await
}

/// Returns the rows of every moved table, in words that are the same on both databases, without
/// derived columns.
async fn contents(kit: &Kit, columns_of: &Kit) -> Vec<String> {
    let mut all = Vec::new();
    let tables = "select name from sqlite_schema where type = 'table' order by name";
    for table in columns_of.texts(tables).await {
        if NOT_MOVED.contains(&table.as_str()) {
            continue;
        }
        let columns = format!(
            "select name || ' ' || lower(type) from pragma_table_info('{table}')
             where name <> 'bucket'"
        );
        let mut words = Vec::new();
        for column in columns_of.texts(&columns).await {
            let (name, kind) = column.split_once(' ').unwrap();
            let octets = |name: &str| {
                if kit.is_sqlite() {
                    // `hex` of null is an empty text.
                    format!("case when {name} is null then null else lower(hex({name})) end")
                } else {
                    format!("encode({name}, 'hex')")
                }
            };
            let word = match (kind, kit.is_sqlite()) {
                ("text", _) => name.to_owned(),
                // A bucket follows the id of the message.
                ("blob", _) if name == "pages" => {
                    let (id, rest) = ("substr(pages, 1, 16)", "substr(pages, 18)");
                    format!("{} || {}", octets(id), octets(rest))
                }
                ("blob", _) => octets(name),
                ("boolean", false) => format!("cast(cast({name} as integer) as text)"),
                _ => format!("cast({name} as text)"),
            };
            words.push(format!("coalesce({word}, '~')"));
        }
        let words = words.join(" || '|' || ");
        let rows = format!("select '{table}|' || {words} from {table}");
        let rows = kit.texts(&rows).await.into_iter();
        // PostgreSQL cannot store NUL.
        all.extend(rows.map(|row| row.replace('\0', "")));
    }
    all.sort();
    all
}

async fn is_equal(source: &Kit, target: &Kit) {
    let (theirs, ours) = (
        contents(source, source).await,
        contents(target, source).await,
    );
    assert!(theirs.len() > 7_500, "{}", theirs.len());
    let differing = theirs
        .iter()
        .zip(&ours)
        .find(|(theirs, ours)| theirs != ours);
    assert_eq!(differing, None);
    assert_eq!(theirs.len(), ours.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_is_moved_once_and_equal() {
    testkit::needs!(Postgres);
    let (source, target) = (source().await, Kit::postgres().await);
    let steps = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&steps);
    let watch: Watch = Arc::new(move |step| seen.lock().unwrap().push(step));
    let imported = import(&target.store, &source.kit.store, NOW, watch).await;
    let Imported::Now(rows) = imported.unwrap() else {
        panic!("it was not there");
    };
    is_equal(&source.kit, &target).await;
    let moved = rows.iter().find(|(table, _)| *table == "deliveries");
    let counted = source.kit.numbers("select count(*) from deliveries").await;
    assert_eq!(moved.map(|&(_, rows)| rows), counted.first().copied());
    let steps = steps.lock().unwrap().clone();
    for (table, of) in rows {
        for done in [0, of] {
            assert!(
                steps.contains(&ImportStep::Copy { table, done, of }),
                "{table}"
            );
        }
    }
    assert_eq!(steps.last(), Some(&ImportStep::Target));

    // Each row has the bucket of its account.
    for misplaced in [
        "messages where bucket <> account_id % 16",
        "wallets where bucket <> account_id % 16",
        "deliveries d left join messages m using (bucket, message_id) where m.account_id is null",
        "batches b left join messages m using (bucket, message_id) where m.account_id is null",
        "outbox o left join messages m on m.bucket = o.bucket and m.message_id = o.subject where m.account_id is null",
        "carrier_ids p left join deliveries d on d.bucket = get_byte(p.pages, 16)
             and d.message_id = substr(p.pages, 1, 16) where d.status is null",
    ] {
        let count = format!("select count(*) from {misplaced}");
        assert_eq!(target.numbers(&count).await, [0], "{misplaced}");
    }
    let first = source
        .accounts
        .iter()
        .map(|account| account.0)
        .min()
        .unwrap();
    let mark = "select value from marks where name = 'imported'";
    assert_eq!(target.numbers(mark).await, [first]);
    let swept =
        "select count(*) from marks where name like 'expired-direct-refund-%' and value > 0";
    assert_eq!(target.numbers(swept).await, [16]);
    assert_eq!(
        source.kit.store.import_state().await.unwrap(),
        ImportState::Moved
    );
    assert_eq!(
        target.store.import_state().await.unwrap(),
        ImportState::Open
    );

    let again = import_from(&target, &source.kit.store).await.unwrap();
    assert_eq!(again, Imported::Before);
    is_equal(&source.kit, &target).await;
    source.kit.finish().await;
    target.finish().await;
}

async fn tokens_are_as_before(source: &Source, store: &Store) {
    assert_eq!(
        store
            .tokens()
            .account_of(&hash(0))
            .await
            .unwrap()
            .map(|(account, _, terms)| (account, terms)),
        Some((source.accounts[0], terms(0)))
    );
    assert_eq!(
        store.tokens().account_of(&hash(1)).await.unwrap(),
        None,
        "revoked"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_in_flight_goes_on() {
    testkit::needs!(Postgres);
    let (source, target) = (source().await, Kit::postgres().await);
    import_from(&target, &source.kit.store).await.unwrap();
    let message = |wanted: Fate| {
        let found = source.messages.iter().find(|(fate, _)| *fate == wanted);
        &found.unwrap().1
    };
    let store = &target.store;
    tokens_are_as_before(&source, store).await;

    // Any process finds the claims of the dead one.
    let left = target.orphans(CARRIER).await;
    let left_of = |message: &NewMessage| {
        let of_it = left
            .iter()
            .find(|claimed| claimed.batch.message == message.id);
        of_it.unwrap().clone()
    };
    left_of(message(Fate::Claimed));
    let before = target.balance(source.accounts[2]).await;
    let parked = left_of(&source.parked);
    target.report(report(vec![taken(&parked)], vec![])).await;
    assert_eq!(
        target.statuses(&source.parked).await,
        [Some(DeliveryStatus::Undelivered)]
    );
    assert_eq!(target.balance(source.accounts[2]).await, before + naira(6));

    let to = |fate: Fate| -> Vec<Recipient> { message(fate).draft.recipients.clone() };
    let heard = [
        delivered(to(Fate::Sent)[0]),
        undelivered(to(Fate::Sent)[1]),
        undelivered(to(Fate::HalfDelivered)[1]),
        receipt(
            "never-heard-of",
            to(Fate::Doubted)[0],
            DeliveryStatus::Delivered,
        ),
    ];
    target.report(report(vec![], heard.into())).await;
    let [done, failed] = [DeliveryStatus::Delivered, DeliveryStatus::Undelivered].map(Some);
    assert_eq!(target.statuses(message(Fate::Sent)).await, [done, failed]);
    assert_eq!(
        target.statuses(message(Fate::HalfDelivered)).await,
        [done, failed]
    );
    assert_eq!(target.statuses(message(Fate::Doubted)).await[0], done);

    let due = store.outbox().due_origins(NOW, None, 1_000).await.unwrap();
    assert!(
        due.found
            .iter()
            .any(|(bucket, account, ..)| *bucket == store.bucket_of(*account))
    );
    let later = Claim {
        now_ms: NOW + 2 * DAY,
        ..claim(1_000)
    };
    let waiting = store.claims().claim(later).await.unwrap();
    let waits = |message: &NewMessage| {
        waiting
            .iter()
            .any(|claimed| claimed.batch.message == message.id)
    };
    assert!(waits(message(Fate::Waiting)) && waits(message(Fate::SecondLegWaits)));
    source.kit.finish().await;
    target.finish().await;
}

/// Runs an import that ends like a crash at the step `dies`. Returns `true` if it ended before.
async fn interrupted(
    target: &Kit,
    directory: &Target,
    dies: impl Fn(usize, ImportStep) -> bool + Send + Sync + 'static,
) -> bool {
    let source = Store::open(directory).await.unwrap();
    let count = AtomicUsize::new(0);
    let watch: Watch = Arc::new(move |step| {
        let count = count.fetch_add(1, Ordering::Relaxed);
        assert!(!dies(count, step), "the power is gone");
    });
    let imported = import(&target.store, &source, NOW, watch).await;
    source.close().await;
    match imported {
        Ok(Imported::Now(_)) => true,
        Err(ImportError::Store(database::Error::Closed)) => false,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_import_is_completed_by_the_next() {
    testkit::needs!(Postgres);
    let (source, target) = (source().await, Kit::postgres().await);
    let mut at = 0;
    while !interrupted(&target, &source.kit.target, move |count, _| count == at).await {
        let begun = match at {
            0 => ImportState::Open,
            _ => ImportState::Importing,
        };
        assert_eq!(
            target.store.import_state().await.unwrap(),
            begun,
            "step {at}"
        );
        let usable = source.kit.store.import_state().await.unwrap();
        assert_eq!(usable, ImportState::Open, "step {at}");
        at += 1;
    }
    assert!(at > 25, "{at}");
    is_equal(&source.kit, &target).await;
    assert_eq!(
        target.store.import_state().await.unwrap(),
        ImportState::Open
    );
    source.kit.finish().await;
    target.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_gone_on_is_never_overwritten() {
    testkit::needs!(Postgres);
    let (source, target) = (source().await, Kit::postgres().await);
    import_from(&target, &source.kit.store).await.unwrap();
    let account = source.accounts[0];
    target.credit(account, Component::SmsWallet, 7).await;
    let newer = contents(&target, &source.kit).await;
    // The source is made usable again.
    source
        .kit
        .run("delete from marks where name = 'moved'")
        .await
        .unwrap();
    assert_eq!(
        source.kit.store.import_state().await.unwrap(),
        ImportState::Open
    );
    source
        .kit
        .credit(account, Component::SmsWallet, 1_000)
        .await;
    let again = import_from(&target, &source.kit.store).await.unwrap();
    assert_eq!(again, Imported::Before);
    assert!(contents(&target, &source.kit).await == newer);
    assert_eq!(
        source.kit.store.import_state().await.unwrap(),
        ImportState::Moved
    );
    source.kit.finish().await;
    target.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_was_used_in_between_is_found_out() {
    testkit::needs!(Postgres);
    for table in ["wallets", "deliveries", "batches"] {
        let (source, target) = (source().await, Kit::postgres().await);
        let dies = |_, step| step == ImportStep::Target;
        assert!(!interrupted(&target, &source.kit.target, dies).await);
        match table {
            "wallets" => {
                let account = source.accounts[0];
                source.kit.credit(account, Component::SmsWallet, 5).await;
            }
            "deliveries" => {
                let mut sent = source
                    .messages
                    .iter()
                    .filter(|(fate, _)| *fate == Fate::Sent);
                let heard = delivered(sent.next().unwrap().1.draft.recipients[0]);
                source.kit.report(report(vec![], vec![heard])).await;
            }
            _ => {
                let tried = "update batches set tries = tries + 1";
                source.kit.run(tried).await.unwrap();
            }
        }
        let refused = import_from(&target, &source.kit.store).await.unwrap_err();
        let found = match &refused {
            ImportError::Differs(found) => *found,
            other => panic!("{other}"),
        };
        assert_eq!(found, table);
        assert_eq!(
            target.store.import_state().await.unwrap(),
            ImportState::Importing
        );
        assert_eq!(
            source.kit.store.import_state().await.unwrap(),
            ImportState::Open
        );
        source.kit.finish().await;
        target.finish().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_that_has_data_of_its_own_is_refused() {
    testkit::needs!(Postgres);
    let target = Kit::postgres().await;
    let empty = Kit::sqlite().await;
    let refused = import_from(&target, &empty.store).await.unwrap_err();
    assert!(matches!(refused, ImportError::Empty), "{refused}");

    let (one, other) = (Kit::sqlite().await, Kit::sqlite().await);
    let account_of_one = one.account(100).await;
    other.account(100).await;
    let dies = |_, step| step == ImportStep::Target;
    assert!(!interrupted(&target, &one.target, dies).await);
    for _ in 0..2 {
        let refused = import_from(&target, &other.store).await.unwrap_err();
        assert!(matches!(refused, ImportError::OtherImport), "{refused}");
        // The import has only begun at first, and is complete then.
        import_from(&target, &one.store).await.unwrap();
    }
    assert_eq!(target.balance(account_of_one).await, naira(100));

    let own = Kit::postgres().await;
    own.account(5).await;
    let refused = import_from(&own, &other.store).await.unwrap_err();
    assert!(matches!(refused, ImportError::OtherData), "{refused}");
    assert_eq!(own.store.import_state().await.unwrap(), ImportState::Open);
    assert_eq!(own.numbers("select count(*) from accounts").await, [1]);
    for kit in [target, empty, one, other, own] {
        kit.finish().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_with_a_living_node_is_refused() {
    testkit::needs!(Postgres);
    let (source, target) = (Kit::sqlite().await, Kit::postgres().await);
    source.account(100).await;
    target
        .run("insert into nodes (node, name, beat) values (7, 'west', 1), (8, 'east', 1)")
        .await
        .unwrap();
    let ended = AtomicBool::new(false);
    let beats = async {
        while !ended.load(Ordering::Relaxed) {
            let beat = target.run("update nodes set beat = beat + 1 where name = 'east'");
            beat.await.unwrap();
        }
    };
    let refused = async {
        let imported = import_from(&target, &source.store).await;
        ended.store(true, Ordering::Relaxed);
        imported.unwrap_err()
    };
    let (refused, ()) = tokio::join!(refused, beats);
    assert!(matches!(refused, ImportError::Served), "{refused}");
    // Both callbacks are dead.
    let imported = import_from(&target, &source.store).await.unwrap();
    assert!(matches!(imported, Imported::Now(_)));
    source.finish().await;
    target.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn books_that_do_not_add_up_are_not_moved() {
    testkit::needs!(Postgres);
    let (source, target) = (Kit::sqlite().await, Kit::postgres().await);
    source.account(100).await;
    source.plant("update wallets set sms_wallet = 7").await;
    let refused = import_from(&target, &source.store).await.unwrap_err();
    let sentence = refused.to_string();
    assert!(
        sentence.starts_with("the books of the source do not add up"),
        "{sentence}"
    );
    assert_eq!(
        target.store.import_state().await.unwrap(),
        ImportState::Open
    );
    source.finish().await;
    target.finish().await;
}

/// Commands work on a database that no service uses. A change in the middle of the import would be
/// lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_changes_the_source_meanwhile() {
    testkit::needs!(Postgres);
    let (source, target) = (Kit::sqlite().await, Kit::postgres().await);
    let account = source.account(100).await;
    let (copying, seen) = tokio::sync::oneshot::channel();
    let (go_on, waits) = mpsc::channel::<()>();
    let (copying, waits) = (Mutex::new(Some(copying)), Mutex::new(waits));
    let watch: Watch = Arc::new(move |step| {
        if step == ImportStep::Compare
            && let Some(copying) = copying.lock().unwrap().take()
        {
            copying.send(()).unwrap();
            waits.lock().unwrap().recv().unwrap();
        }
    });
    let command = async {
        seen.await.unwrap();
        let mut impatient = source.test_connection().await;
        impatient.fail_if_locked().unwrap();
        let written = impatient.run("update accounts set name = 'Other'").await;
        go_on.send(()).unwrap();
        written.unwrap_err().to_string()
    };
    let (imported, refused) =
        tokio::join!(import(&target.store, &source.store, NOW, watch), command);
    assert!(matches!(imported, Ok(Imported::Now(_))));
    assert!(refused.contains("locked"), "{refused}");
    assert_eq!(target.balance(account).await, naira(100));
    source.finish().await;
    target.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn neighbours_of_several_accounts_are_found_after_an_import() {
    testkit::needs!(Postgres);
    let (source, target) = (Kit::sqlite().await, Kit::postgres().await);
    let mut messages = Vec::new();
    let mut receipts = Vec::new();
    for place in 0..3 {
        let base = Sending {
            first_number: place * 3,
            ..sending(source.account(100).await)
        };
        let id = format!("5{place}");
        let message = base.message(&source.store);
        let claimed = source.accept_and_claim(&message).await;
        let to = message.draft.recipients[0];
        let progress = Progress {
            submitted: vec![(to, vec![id.clone()])],
            ..silence(&claimed[0])
        };
        source.report(report(vec![progress], vec![])).await;
        receipts.push(Receipt {
            recipient: None,
            ..receipt(&id, to, DeliveryStatus::Delivered)
        });
        messages.push(message);
    }
    import_from(&target, &source.store).await.unwrap();
    let (settled, parked) = target.report(report(vec![], receipts)).await;
    assert_eq!((settled.outcomes.len(), parked), (3, 0));
    for message in messages {
        let ends = [Some(DeliveryStatus::Delivered)];
        assert_eq!(target.statuses(&message).await, ends);
    }
    source.finish().await;
    target.finish().await;
}
