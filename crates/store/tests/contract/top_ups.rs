//! Top-ups: a payment credits once, and receipts are numbered without gaps.

use domain::payment::{
    AcceptFault, Acceptance, Mismatch, NewTopUp, Payment, PaymentStatus, Percent, Priced, Received,
    TopUp, TopUpId, TopUpState, Verdict,
};
use domain::{AccountId, Component, Environment, Money};
use store::{Credited, Outcome, SettledTopUp};
use storekit::{Kit, NOW, by, credit, fresh, naira, twins};

twins!(
    a_payment_credits_amount_and_bonus_once,
    payments_at_the_same_moment_credit_once,
    receipts_are_numbered_without_gaps,
    a_payment_after_expiry_or_failure_is_credited,
    a_payment_that_does_not_fit_credits_nothing,
    an_operator_decides_about_a_mismatch_once,
    an_unknown_reference_is_kept_once,
    a_reference_that_an_operator_credited_is_not_credited_again,
    the_sandbox_pays_without_money,
    watched_top_ups_are_taken_by_their_last_check,
    lists_have_the_newest_first,
    verify_finds_a_wrong_credit_and_a_gap_of_receipts,
);

fn id() -> TopUpId {
    let mut random = [0; 10];
    random[2..].copy_from_slice(&fresh().to_be_bytes());
    TopUpId::new(NOW, random)
}

pub(super) fn new(account: AccountId, environment: Environment) -> TopUp {
    let new = NewTopUp {
        id: id(),
        account,
        environment,
        provider: "paystack".to_owned(),
        price: Priced {
            amount: naira(1_000),
            vat: naira(75),
            vat_rate: Percent::from_hundredths(750),
            bonus: naira(50),
            component: Component::UniversalWallet,
        },
        checkout_url: "https://checkout.example.com/x".to_owned(),
        return_url: None,
        expires_ms: 1_000,
    };
    TopUp::new(new, NOW)
}

async fn created_in(kit: &Kit, account: AccountId, environment: Environment) -> TopUp {
    let top_up = new(account, environment);
    let made = kit.store.top_ups().create(account, top_up.clone(), None);
    assert_eq!(made.await.unwrap(), Outcome::Made(top_up.clone()));
    top_up
}

pub(super) async fn created(kit: &Kit, account: AccountId) -> TopUp {
    created_in(kit, account, Environment::Live).await
}

fn payment(top_up: &TopUp, naira: i64, status: PaymentStatus) -> Payment {
    Payment {
        reference: top_up.reference.clone(),
        status,
        received: Received {
            amount: Money::from_naira(naira),
            currency: "NGN".to_owned(),
            payment_id: "4099260516".to_owned(),
        },
    }
}

fn paid(top_up: &TopUp) -> Payment {
    payment(top_up, 1_075, PaymentStatus::Paid)
}

async fn settle(kit: &Kit, top_up: &TopUp, payment: Payment) -> SettledTopUp {
    let settled = kit.store.top_ups().settle(top_up.id, payment, NOW).await;
    settled.unwrap()
}

async fn balances(kit: &Kit, account: AccountId) -> (Money, Money) {
    let purse = kit.store.wallets().find(account).await.unwrap().unwrap();
    let amount = purse.get(Component::UniversalWallet);
    (amount, purse.get(Component::SmsBonus))
}

async fn violations(kit: &Kit) -> Vec<String> {
    kit.store.upkeep().verify().await.unwrap().violations
}

async fn a_payment_credits_amount_and_bonus_once(kit: &Kit) {
    let account = kit.account(0).await;
    let top_up = created(kit, account).await;
    let settled = settle(kit, &top_up, paid(&top_up)).await;
    assert_eq!(settled.verdict, Verdict::Credit);
    assert_eq!(settled.top_up.state, TopUpState::Paid);
    assert_eq!(settled.top_up.receipt_number, Some(1));
    assert_eq!(balances(kit, account).await, (naira(1_000), naira(50)));
    for late in [
        paid(&top_up),
        payment(&top_up, 9, PaymentStatus::Paid),
        payment(&top_up, 0, PaymentStatus::Failed),
        payment(&top_up, 0, PaymentStatus::Pending),
    ] {
        let again = settle(kit, &top_up, late).await;
        assert_eq!(again.verdict, Verdict::Nothing);
        assert_eq!(again.top_up, settled.top_up);
    }
    assert_eq!(balances(kit, account).await, (naira(1_000), naira(50)));
    let found = kit
        .store
        .top_ups()
        .of_reference("paystack", &top_up.reference);
    assert_eq!(found.await.unwrap(), Some(settled.top_up));
    assert_eq!(violations(kit).await, Vec::<String>::new());
}

async fn payments_at_the_same_moment_credit_once(kit: &Kit) {
    let account = kit.account(0).await;
    let top_up = created(kit, account).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (store, top_up) = (kit.store.clone(), top_up.clone());
        tasks.spawn(async move {
            let settled = store.top_ups().settle(top_up.id, paid(&top_up), NOW).await;
            settled.unwrap().verdict
        });
    }
    let verdicts = tasks.join_all().await;
    let credits = verdicts.iter().filter(|&&one| one == Verdict::Credit);
    assert_eq!(credits.count(), 1);
    assert_eq!(balances(kit, account).await, (naira(1_000), naira(50)));
}

async fn receipts_are_numbered_without_gaps(kit: &Kit) {
    let accounts = [kit.account(0).await, kit.account(0).await];
    let mut tasks = tokio::task::JoinSet::new();
    for place in 0..10 {
        let top_up = created(kit, accounts[place % 2]).await;
        let store = kit.store.clone();
        tasks.spawn(async move {
            let settled = store.top_ups().settle(top_up.id, paid(&top_up), NOW).await;
            settled.unwrap().top_up.receipt_number.unwrap()
        });
    }
    let mut numbers = tasks.join_all().await;
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=10).collect::<Vec<_>>());
    assert_eq!(violations(kit).await, Vec::<String>::new());
}

async fn a_payment_after_expiry_or_failure_is_credited(kit: &Kit) {
    let account = kit.account(0).await;
    let (late, failed) = (created(kit, account).await, created(kit, account).await);
    kit.store.top_ups().expire(late.id).await.unwrap();
    kit.store.top_ups().expire(late.id).await.unwrap();
    let expired = kit.store.top_ups().find(late.id).await.unwrap().unwrap();
    assert_eq!(
        (expired.state, expired.is_watched),
        (TopUpState::Expired, false)
    );
    let refused = settle(kit, &failed, payment(&failed, 0, PaymentStatus::Failed)).await;
    assert_eq!(
        (refused.verdict, refused.top_up.state),
        (Verdict::Fail, TopUpState::Failed)
    );
    assert!(refused.top_up.is_watched, "another attempt may succeed");
    for top_up in [late, failed] {
        let settled = settle(kit, &top_up, paid(&top_up)).await;
        assert_eq!(settled.verdict, Verdict::Credit);
    }
    assert_eq!(balances(kit, account).await, (naira(2_000), naira(100)));
}

async fn a_payment_that_does_not_fit_credits_nothing(kit: &Kit) {
    let account = kit.account(0).await;
    let top_up = created(kit, account).await;
    let less = payment(&top_up, 1_074, PaymentStatus::Paid);
    let settled = settle(kit, &top_up, less.clone()).await;
    assert_eq!(settled.verdict, Verdict::Mismatch(Mismatch::Amount));
    assert_eq!(settled.top_up.received, Some(less.received));
    let later = settle(kit, &top_up, paid(&top_up)).await;
    assert_eq!(later.verdict, Verdict::Nothing, "only an operator decides");
    assert_eq!(balances(kit, account).await, (Money::ZERO, Money::ZERO));
    let top_ups = kit.store.top_ups();
    let mismatches = top_ups.list_all(Some(TopUpState::Mismatch), None, 9).await;
    assert_eq!(mismatches.unwrap(), [settled.top_up]);
    for (state, expected) in [(TopUpState::Mismatch, 1), (TopUpState::Paid, 0)] {
        assert_eq!(top_ups.count_all(state).await.unwrap(), expected);
    }
}

async fn an_operator_decides_about_a_mismatch_once(kit: &Kit) {
    let account = kit.account(0).await;
    let top_ups = kit.store.top_ups();
    let whole = Acceptance::default();
    let pending = created(kit, account).await;
    let early = top_ups.accept(pending.id, whole, by(NOW)).await.unwrap();
    assert_eq!(early, Err(AcceptFault::NoMismatch(TopUpState::Pending)));
    let part = Acceptance {
        account: None,
        amount: Some(naira(900)),
    };
    for (acceptance, balances_after) in [
        (whole, (naira(1_000), naira(50))),
        (part, (naira(1_900), naira(50))),
    ] {
        let top_up = created(kit, account).await;
        let less = payment(&top_up, 9, PaymentStatus::Paid);
        settle(kit, &top_up, less).await;
        let accepted = top_ups
            .accept(top_up.id, acceptance, by(NOW))
            .await
            .unwrap();
        assert_eq!(accepted.unwrap().state, TopUpState::Paid);
        let again = top_ups
            .accept(top_up.id, acceptance, by(NOW))
            .await
            .unwrap();
        assert_eq!(again, Err(AcceptFault::NoMismatch(TopUpState::Paid)));
        let rejected = top_ups.reject(top_up.id, by(NOW)).await.unwrap();
        assert_eq!(rejected, Err(AcceptFault::NoMismatch(TopUpState::Paid)));
        assert_eq!(balances(kit, account).await, balances_after);
    }
    let top_up = created(kit, account).await;
    settle(kit, &top_up, payment(&top_up, 9, PaymentStatus::Paid)).await;
    let rejected = top_ups.reject(top_up.id, by(NOW)).await.unwrap().unwrap();
    assert_eq!(rejected.state, TopUpState::Failed);
    let later = settle(kit, &top_up, paid(&top_up)).await;
    assert_eq!(later.verdict, Verdict::Nothing);
    let nobody = top_ups.reject(id(), by(NOW)).await.unwrap();
    assert_eq!(nobody, Err(AcceptFault::NotFound));
    let entries = kit
        .store
        .audit()
        .list(Some(account), None, 3)
        .await
        .unwrap();
    let verbs: Vec<&str> = entries.iter().map(|entry| entry.verb.as_str()).collect();
    assert_eq!(verbs, ["top-up.reject", "top-up.accept", "top-up.accept"]);
    assert_eq!(violations(kit).await, Vec::<String>::new());
}

async fn an_unknown_reference_is_kept_once(kit: &Kit) {
    let account = kit.account(0).await;
    let foreign = Payment {
        reference: "T0001".to_owned(),
        ..paid(&new(account, Environment::Live))
    };
    let top_ups = kit.store.top_ups();
    let unknown = TopUp::unknown(id(), "paystack", &foreign, NOW);
    assert!(top_ups.keep_unknown(unknown.clone()).await.unwrap());
    let repeated = TopUp::unknown(id(), "paystack", &foreign, NOW);
    assert!(!top_ups.keep_unknown(repeated).await.unwrap());
    assert_eq!(violations(kit).await, Vec::<String>::new());
    let settled = settle(kit, &unknown, foreign).await;
    assert_eq!(settled.verdict, Verdict::Nothing);
    let amount = Some(naira(70));
    let given = |account| Acceptance { account, amount };
    for (acceptance, fault) in [
        (given(None), AcceptFault::NoAccount),
        (given(Some(AccountId(1))), AcceptFault::UnknownAccount),
    ] {
        let refused = top_ups
            .accept(unknown.id, acceptance, by(NOW))
            .await
            .unwrap();
        assert_eq!(refused, Err(fault));
    }
    let accepted = top_ups.accept(unknown.id, given(Some(account)), by(NOW));
    assert_eq!(accepted.await.unwrap().unwrap().account, Some(account));
    assert_eq!(balances(kit, account).await, (naira(70), Money::ZERO));
}

async fn a_reference_that_an_operator_credited_is_not_credited_again(kit: &Kit) {
    let account = kit.account(0).await;
    let top_up = created(kit, account).await;
    let by_hand = credit(account, Component::SmsWallet, 5, &top_up.reference);
    let credited = kit.store.wallets().credit(by_hand, by(NOW)).await.unwrap();
    assert_eq!(credited, Credited::New);
    let settled = settle(kit, &top_up, paid(&top_up)).await;
    assert_eq!(settled.verdict, Verdict::Mismatch(Mismatch::Credited));
    let accepted = kit
        .store
        .top_ups()
        .accept(top_up.id, Acceptance::default(), by(NOW));
    assert_eq!(accepted.await.unwrap(), Err(AcceptFault::CreditedBefore));
    assert_eq!(kit.balance(account).await, naira(5));
}

async fn the_sandbox_pays_without_money(kit: &Kit) {
    let account = kit.account(0).await;
    let top_up = created_in(kit, account, Environment::Sandbox).await;
    assert!(!top_up.is_watched);
    let settled = settle(kit, &top_up, paid(&top_up)).await;
    assert_eq!(settled.top_up.receipt_number, Some(1));
    assert_eq!(kit.balance(account).await, Money::ZERO);
    let live = created(kit, account).await;
    let settled = settle(kit, &live, paid(&live)).await;
    assert_eq!(
        settled.top_up.receipt_number,
        Some(1),
        "receipts of its own"
    );
    assert_eq!(violations(kit).await, Vec::<String>::new());
}

async fn watched_top_ups_are_taken_by_their_last_check(kit: &Kit) {
    let account = kit.account(0).await;
    let (one, other) = (created(kit, account).await, created(kit, account).await);
    created_in(kit, account, Environment::Sandbox).await;
    let top_ups = kit.store.top_ups();
    let taken = async |before_ms, now_ms, limit| {
        let taken = top_ups
            .take_watched(before_ms, now_ms, limit)
            .await
            .unwrap();
        taken.iter().map(|top_up| top_up.id).collect::<Vec<_>>()
    };
    assert_eq!(taken(NOW - 1, NOW, 9).await, []);
    assert_eq!(taken(NOW, NOW + 5, 1).await, [one.id]);
    assert_eq!(taken(NOW, NOW + 6, 9).await, [other.id]);
    assert_eq!(taken(NOW + 9, NOW + 9, 9).await, [one.id, other.id]);
    let (here, there) = tokio::join!(taken(NOW + 9, NOW + 19, 9), taken(NOW + 9, NOW + 19, 9));
    assert!(
        here.iter().all(|id| !there.contains(id)),
        "{here:?} {there:?}"
    );
    settle(kit, &one, paid(&one)).await;
    top_ups.expire(other.id).await.unwrap();
    assert_eq!(taken(NOW + 99, NOW + 99, 9).await, []);
}

async fn lists_have_the_newest_first(kit: &Kit) {
    let (account, other) = (kit.account(0).await, kit.account(0).await);
    let (first, second) = (created(kit, account).await, created(kit, account).await);
    created(kit, other).await;
    let top_ups = kit.store.top_ups();
    let page = async |environment, behind| {
        let page = top_ups.list(account, environment, behind, 1).await.unwrap();
        page.first().map(|top_up| top_up.id)
    };
    assert_eq!(page(Environment::Live, None).await, Some(second.id));
    assert_eq!(
        page(Environment::Live, Some(second.id)).await,
        Some(first.id)
    );
    assert_eq!(page(Environment::Live, Some(first.id)).await, None);
    assert_eq!(page(Environment::Sandbox, None).await, None);
    let all = top_ups.list_all(None, None, 9).await.unwrap();
    assert_eq!(all.len(), 3);
}

async fn verify_finds_a_wrong_credit_and_a_gap_of_receipts(kit: &Kit) {
    let account = kit.account(0).await;
    let (one, other) = (created(kit, account).await, created(kit, account).await);
    settle(kit, &one, paid(&one)).await;
    settle(kit, &other, paid(&other)).await;
    assert_eq!(violations(kit).await, Vec::<String>::new());
    let [one, other] = [one.id, other.id].map(|id| id.0.simple().to_string());
    kit.plant("update top_ups set amount = amount + 1 where receipt_number = 1")
        .await;
    let wrong = format!("top-up {one} is paid, and its credit is not its amount with its bonus");
    assert_eq!(violations(kit).await, [wrong]);
    kit.plant(
        "update top_ups set amount = amount - 1 where receipt_number = 1;
         update top_ups set state = 'pending' where receipt_number = 2",
    )
    .await;
    let credited =
        format!("top-up {other} is credited, and it is not a paid one of the live environment");
    let receipt =
        format!("top-up {other} has a receipt without a payment, or a payment without a receipt");
    assert_eq!(violations(kit).await, [credited, receipt]);
    kit.plant("update top_ups set state = 'paid', receipt_number = 3 where receipt_number = 2")
        .await;
    let gap = "no receipt has the number 2".to_owned();
    let not_given = format!("top-up {other} has a receipt number that was not given");
    assert_eq!(violations(kit).await, [gap, not_given]);
    kit.plant("update marks set value = 6 where name = 'receipts'")
        .await;
    let gaps = ["2", "4 to 6"].map(|numbers| format!("no receipt has the number {numbers}"));
    assert_eq!(violations(kit).await, gaps);
    kit.plant("update marks set value = 2 where name = 'receipts'")
        .await;
    kit.plant("update top_ups set receipt_number = 2, account_id = 7 where receipt_number = 3")
        .await;
    let found = violations(kit).await;
    let nobody = "top-ups belong to account 7, which does not exist";
    assert!(
        found.iter().any(|violation| violation == nobody),
        "{found:?}"
    );
}
