//! Simulated customers: their sends, the times, and the answers.

use super::changes::{self, Changes};
use super::codes::{self, Code};
use super::receiver::ORIGINS;
use super::rules::{MARGIN, PRICE, TIMEOUT_MS};
use super::state::{Outside, State};
use super::{payments, transfers};
use domain::idempotency::{IdempotencyKey, Operation};
use domain::resale::{Direction, SubAccountChange, SubAccountRequest, TransferRequest};
use domain::time::lagos_time;
use domain::token::{self, Scopes, TokenHash, TokenTerms};
use domain::{
    Account, AccountId, AccountStatus, Component, Environment, Gateway, MessageId, Money, Price,
    Refusal, SendFields, SenderId, SenderStatus, Verification,
};
use engine::{
    Admission, Answered, Clock, Credentials, Engine, Error, Keyed, NotAdmitted, Purpose,
    SendRequest,
};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;
use store::{By, EntryKind, LedgerEntry, Outcome, Store, TokenInfo, Transfer};
use tokio::time::{sleep, sleep_until};

/// The start of the engine's clock.
pub(crate) const START_MS: i64 = 1_795_000_000_000;
/// The latest time of a first request, in milliseconds of the simulation.
pub(crate) const LAST_SEND_MS: u64 = 22_000;
/// The first number. The others follow it.
const FIRST_NUMBER: u64 = 2_348_031_000_000;
const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

pub(crate) const ACCOUNTS: [AccountId; 2] = [PARENT, AccountId(10_002)];
/// An account with a sub-account, which has the same last octet.
pub(crate) const PARENT: AccountId = AccountId(10_001);
pub(crate) const SUB: AccountId = AccountId(10_257);
/// All accounts with a wallet.
pub(crate) const PAYERS: [AccountId; 3] = [PARENT, AccountId(10_002), SUB];

/// The gateways, all of which have one price.
const GATEWAYS: [Gateway; 4] = [
    Gateway::DirectRefund,
    Gateway::DirectCorporate,
    Gateway::Otp,
    Gateway::DualBackup,
];

/// A send of a customer, who repeats the request until it is accepted or refused.
#[derive(Clone, Debug)]
pub(crate) struct Send {
    pub(crate) at_ms: u64,
    pub(crate) account: AccountId,
    pub(crate) environment: Environment,
    pub(crate) gateway: Gateway,
    pub(crate) recipients: Vec<u64>,
    pub(crate) pages: i64,
    pub(crate) body: String,
    pub(crate) origin: Option<usize>,
    /// The times of the requests by the engine's clock.
    pub(crate) asked_ms: Vec<i64>,
    /// The answers that accepted it.
    pub(crate) accepted: Vec<(MessageId, Money)>,
    /// `true` if an answer refused it as a duplicate.
    pub(crate) duplicate: bool,
    /// `true` if the customer does not repeat it any more.
    pub(crate) settled: bool,
    /// `true` if all requests for it have one idempotency key.
    pub(crate) keyed: bool,
    /// `send_at`, by the engine's clock.
    pub(crate) scheduled_ms: Option<i64>,
    /// `validity`, seconds.
    pub(crate) validity_s: Option<i64>,
    /// The one-time password, if the send is one.
    pub(crate) code: Option<Code>,
    /// The changes of its message.
    pub(crate) changes: Changes,
}

/// Plans all sends.
pub(crate) fn plan(state: &mut State) {
    let count = state.dice.between(3, 20);
    let mut last = FIRST_NUMBER;
    for number in 0..count {
        let dice = &mut state.dice;
        let environment = if dice.percent(15) {
            Environment::Sandbox
        } else {
            Environment::Live
        };
        let (campaign, few) = (dice.between(50, 80), dice.between(1, 5));
        let recipients = if dice.percent(5) { campaign } else { few };
        let pages = dice.pick(&[1, 1, 1, 2, 3]);
        let filling = "x".repeat(pages * 150 - 60);
        let send = Send {
            at_ms: dice.below(LAST_SEND_MS),
            account: dice.pick(&PAYERS),
            environment,
            gateway: dice.pick(&GATEWAYS),
            recipients: (0..recipients).map(|place| last + place).collect(),
            pages: i64::try_from(pages).unwrap(),
            body: format!("Message {number} {filling}"),
            origin: dice
                .percent(70)
                .then(|| usize::try_from(number % 3).unwrap()),
            asked_ms: Vec::new(),
            accepted: Vec::new(),
            duplicate: false,
            settled: false,
            keyed: dice.percent(40),
            scheduled_ms: None,
            validity_s: dice
                .percent(20)
                .then(|| i64::try_from(dice.between(60, 180)).unwrap()),
            code: None,
            changes: Changes::plan(dice),
        };
        let ahead_ms = dice.between(1_000, 20_000);
        let send = Send {
            scheduled_ms: dice.percent(25).then(|| {
                START_MS + i64::try_from((send.at_ms + ahead_ms) / 1_000 * 1_000).unwrap()
            }),
            ..send
        };
        last += recipients;
        // Some customers send two equal requests at once.
        let copies = if dice.percent(15) { 2 } else { 1 };
        // The first of them changes the message.
        let copy = Send {
            changes: Changes::default(),
            ..send.clone()
        };
        state.sends.push(send);
        if copies == 2 {
            state.sends.push(copy);
        }
    }
    codes::plan(state);
    payments::plan(state);
    transfers::plan(state);
}

/// Returns the actor of the test.
fn by() -> By {
    By {
        actor: "cli:simulation".into(),
        at_ms: START_MS,
    }
}

/// Creates the accounts with some credit.
pub(crate) async fn open_accounts(store: &Store, outside: &Outside) {
    for (account, number) in ACCOUNTS.into_iter().zip(1_u8..) {
        let made = Account {
            id: account,
            email: "a@example.com".to_owned(),
            name: "A".to_owned(),
            status: AccountStatus::Active,
            verification: Verification::Verified,
            created_at_ms: START_MS,
        };
        let made = store.accounts().create(made, by());
        made.await.unwrap();
        let (info, hash) = token_of(account);
        store.tokens().add(info, hash, by()).await.unwrap();
        let naira = outside.lock().dice.between(100, 3_000);
        let credit = LedgerEntry {
            account,
            subject: MessageId::new(START_MS, [number; 10]),
            recipient: None,
            kind: EntryKind::Credit,
            component: Component::SmsWallet,
            amount: Money::from_naira(i64::try_from(naira).unwrap()),
            created_at_ms: START_MS,
            reference: Some(format!("credit {number}")),
        };
        store.wallets().credit(credit, by()).await.unwrap();
    }
    open_sub_account(store).await;
    for account in PAYERS {
        let sender = SenderId {
            name: "Ogene".to_owned(),
            status: SenderStatus::Pending,
            purpose: "tests".to_owned(),
            international: false,
            approved_at_ms: None,
            rejection_reason: None,
        };
        store.senders().add(account, sender, by()).await.unwrap();
        let approved = SenderStatus::Approved;
        let status = store
            .senders()
            .set_status(account, "Ogene", approved, None, by());
        assert!(status.await.unwrap());
    }
}

/// Creates the sub-account, with its prices and some money of its parent.
async fn open_sub_account(store: &Store) {
    let request = SubAccountRequest {
        name: "B".to_owned(),
        email: "b@example.com".to_owned(),
    };
    let accounts = store.sub_accounts();
    let made = accounts.request((PARENT, request), token_of(SUB), None, by());
    assert!(matches!(made.await.unwrap(), Outcome::Made(_)));
    let price = Money::from_naira(PRICE + MARGIN);
    let price = Price {
        plain: price,
        unicode: price,
    };
    let change = SubAccountChange {
        prices: GATEWAYS.map(|gateway| (gateway, Some(price))).into(),
        ..SubAccountChange::default()
    };
    let changed = accounts.change((PARENT, SUB), change, None, by());
    assert!(matches!(changed.await.unwrap(), Outcome::Made(_)));
    let transfer = Transfer {
        id: MessageId::new(START_MS, [77; 10]),
        account: SUB,
        request: TransferRequest {
            amount: Money::from_naira(90),
            direction: Direction::ToSub,
            reference: "first".to_owned(),
        },
        created_at_ms: START_MS,
    };
    let moved = accounts.transfer(PARENT, transfer, None, by());
    assert!(matches!(moved.await.unwrap(), Outcome::Made(_)));
}

fn token(account: AccountId) -> String {
    let [.., high, low] = account.0.to_be_bytes();
    let mut random = [low; token::RANDOM_BYTES];
    random[0] = high;
    token::make(&random).unwrap()
}

/// Returns the row of an account's token.
fn token_of(account: AccountId) -> (TokenInfo, TokenHash) {
    let info = TokenInfo {
        id: format!("tok_{account}"),
        account,
        name: "A".to_owned(),
        terms: TokenTerms::default(),
        created_at_ms: START_MS,
        revoked_at_ms: None,
    };
    (info, token::hash(&token(account)))
}

/// Starts the remaining requests as tasks of this process.
pub(crate) fn send_all(outside: &Outside, engine: &Engine, clock: &Clock) {
    payments::run_all(outside, engine);
    transfers::run_all(outside, engine);
    let state = outside.lock();
    for (index, send) in state.sends.iter().enumerate().filter(|(_, send)| {
        let has_code = send.code.as_ref().is_some_and(Code::is_open);
        !send.settled || has_code || changes::is_open(send)
    }) {
        let at = state.instant(send.at_ms);
        let (outside, engine, clock) = (outside.clone(), engine.clone(), clock.clone());
        tokio::spawn(async move {
            sleep_until(at).await;
            let is_settled = || outside.lock().sends[index].settled;
            while !is_settled() && !request(&outside, &engine, &clock, index).await {
                let pause_ms = outside.lock().dice.between(300, 3_000);
                sleep(Duration::from_millis(pause_ms)).await;
            }
            codes::verify_all(&outside, &engine, index).await;
            changes::make_all(&outside, &engine, &clock, index).await;
        });
    }
}

/// Sends one request. Returns `true` if its answer is final.
async fn request(outside: &Outside, engine: &Engine, clock: &Clock, index: usize) -> bool {
    let send = {
        let mut state = outside.lock();
        state.sends[index].asked_ms.push(clock.now_ms());
        state.note(&format!("send {index} asked"));
        state.sends[index].clone()
    };
    let answer = match admit(engine, &send, Purpose::Send).await {
        Ok(admission) if send.code.is_some() => {
            let made = codes::create(&admission, fields(&send), &send).await;
            made.map(|(answered, otp)| {
                outside.lock().sends[index].code.as_mut().unwrap().otp = Some(otp);
                answered
            })
        }
        Ok(admission) => {
            admission
                .send(SendRequest::Shared(fields(&send)), keyed(&send))
                .await
        }
        Err(refused) => Err(refused.error),
    };
    let answer = answer.map(|answered| match answered {
        Answered::First(made) => (made.message_id, made.cost, made.page_count),
        // The body is that of `keyed`, or that of a one-time password.
        Answered::Replay(kept) => {
            let cost = kept.body.split(' ').next().unwrap();
            (kept.message.unwrap(), cost.parse().unwrap(), send.pages)
        }
    });
    let mut state = outside.lock();
    state.note(&match &answer {
        Ok((message, cost, _)) => format!("send {index} accepted as {message} for {cost}"),
        Err(error) => format!("send {index} not accepted: {error}"),
    });
    let send = &mut state.sends[index];
    send.settled = match answer {
        Ok((message, cost, pages)) => {
            assert_eq!(pages, send.pages);
            send.accepted.push((message, cost));
            true
        }
        Err(
            Error::Refused(
                Refusal::Unavailable { .. }
                | Refusal::OutcomeUnknown { .. }
                | Refusal::KeyInUse { .. },
            )
            | Error::Store(_),
        ) => false,
        Err(Error::Refused(Refusal::Duplicate)) => {
            assert!(!send.keyed, "the key was looked up before");
            send.duplicate = true;
            true
        }
        Err(Error::Refused(Refusal::InsufficientFunds { .. } | Refusal::OtpTooOften { .. })) => {
            true
        }
        // The clock jumped beyond `send_at`.
        Err(Error::Refused(Refusal::Malformed(_))) if send.scheduled_ms.is_some() => true,
        Err(error @ Error::Refused(_)) => panic!("{error}"),
    };
    send.settled
}

/// Admits a request of the customer of a send.
pub(crate) async fn admit(
    engine: &Engine,
    send: &Send,
    purpose: Purpose,
) -> Result<Admission, NotAdmitted> {
    admit_as(engine, send.account, send.environment, purpose).await
}

/// Admits a request of an account.
pub(crate) async fn admit_as(
    engine: &Engine,
    account: AccountId,
    environment: Environment,
    purpose: Purpose,
) -> Result<Admission, NotAdmitted> {
    let token = token(account);
    let credentials = Credentials {
        token: Some(&token),
        client: CLIENT,
        permitting: Scopes::ALL,
    };
    engine.admit(credentials, environment, purpose).await
}

/// The key of a send, which its copies share, with its cost as the answer.
fn keyed(send: &Send) -> Option<Keyed> {
    let key = format!("key-{}", send.recipients[0]);
    let key = IdempotencyKey::read([key.as_bytes()]).unwrap()?;
    send.keyed.then(|| Keyed {
        key,
        operation: Operation::Send,
        write: Arc::new(|sent| sent.cost.to_string()),
    })
}

fn fields(send: &Send) -> SendFields {
    let recipients = send.recipients.iter().map(u64::to_string);
    let numbers: Vec<String> = recipients.collect();
    SendFields {
        from: Some("Ogene".to_owned()),
        to: Some(numbers.join(",")),
        body: Some(send.body.clone()),
        gateway: Some(send.gateway.as_str().to_owned()),
        callback_url: send
            .origin
            .map(|origin| format!("{}/hook", ORIGINS[origin])),
        send_at: send.scheduled_ms.map(lagos_time),
        validity: send.validity_s.map(|seconds| seconds.to_string()),
        ..SendFields::default()
    }
}

impl Send {
    /// Returns the time from which a message of this send may go out.
    pub(crate) fn due_ms(&self, message: MessageId) -> i64 {
        let accepted_ms = message.accepted_at_ms();
        let scheduled_ms = self.scheduled_ms.unwrap_or(accepted_ms);
        scheduled_ms.max(accepted_ms)
    }

    /// Returns the time up to which a message of this send is valid.
    pub(crate) fn ends_ms(&self, message: MessageId) -> i64 {
        let own_ms = self
            .validity_s
            .map_or(TIMEOUT_MS, |seconds| seconds * 1_000);
        self.due_ms(message) + own_ms.min(TIMEOUT_MS)
    }

    /// Returns the part of the price of a page that the parent gets, in naira.
    pub(crate) fn margin(&self) -> i64 {
        if self.account == SUB { MARGIN } else { 0 }
    }

    /// Returns the cost by a calculation of its own.
    pub(crate) fn cost(&self) -> Money {
        let count = i64::try_from(self.recipients.len()).unwrap();
        Money::from_naira((PRICE + self.margin()) * self.pages * count)
    }
}
