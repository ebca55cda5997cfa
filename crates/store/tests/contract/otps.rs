//! One-time passwords: made with their message, resent, verified, cancelled.

use domain::otp::{
    Code, CodeKind, GivenCode, NewOtp, OtpId, OtpMessage, OtpState, OtpText, Reason, Verified,
};
use domain::{AccountId, Environment, Refusal};
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;
use store::{Accepted, Body, Claim, KeyedChange, NewMessage, OtpChange, Outcome, StoredAnswer};
use storekit::{DAY_MS, Kit, NOW, Sending, claim, otp_moment, request_of, sending, twins};
use tokio::task::JoinSet;
use uuid::Uuid;

twins!(
    a_message_makes_its_one_time_password_and_a_claim_has_it,
    an_account_has_its_own_one_time_passwords_alone,
    a_code_is_verified_once_and_wrong_ones_are_counted,
    a_resend_is_decided_with_its_message,
    a_number_gets_as_many_messages_as_allowed,
    a_cancelled_one_is_final,
    a_change_under_a_key_is_made_once,
    a_refused_change_leaves_its_key_free,
    attempts_at_once_under_one_key_count_once,
    old_one_time_passwords_are_removed,
    all_nodes_have_one_server_key,
);

pub(super) const KEY: &[u8] = b"key";
const LIVE: Environment = Environment::Live;
const MINUTE: i64 = 60_000;

pub(super) fn text(number: u128) -> OtpText {
    OtpText {
        id: OtpId(Uuid::from_u128(number)),
        kind: CodeKind::Numeric,
        length: 6,
    }
}

fn message(kit: &Kit, account: AccountId, text: OtpText, is_first: bool) -> NewMessage {
    let mut message = Sending {
        recipients: 1,
        ..sending(account)
    }
    .message(&kit.store);
    let draft = Arc::make_mut(&mut message.draft);
    draft.otp = Some(OtpMessage {
        text,
        first: is_first.then_some(NewOtp { max_attempts: 2 }),
        expires_at_ms: NOW + 10 * MINUTE,
        fingerprint: draft.fingerprint,
        number_limit: 5,
    });
    message
}

pub(super) async fn made(kit: &Kit, text: OtpText) -> AccountId {
    let account = kit.account(1_000).await;
    let accepted = kit.accept(&message(kit, account, text, true)).await;
    assert!(matches!(accepted, Accepted::Yes { .. }));
    account
}

pub(super) fn given(code: &str) -> GivenCode {
    GivenCode::read(Some(code), 6).unwrap()
}

async fn a_message_makes_its_one_time_password_and_a_claim_has_it(kit: &Kit) {
    let text = text(1);
    let account = made(kit, text).await;
    let otp = kit.store.otps().get(account, LIVE, text.id).await.unwrap();
    let otp = otp.unwrap();
    assert_eq!((otp.kind, otp.length), (text.kind, text.length));
    assert_eq!(otp.verification.state(NOW), OtpState::Pending);
    let claimed = kit.store.claims().claim(claim(10)).await.unwrap();
    assert_eq!(
        claimed[0].content.body,
        Body::OneTimePassword("Your order is ready".to_owned(), text)
    );
}

async fn an_account_has_its_own_one_time_passwords_alone(kit: &Kit) {
    let text = text(2);
    let account = made(kit, text).await;
    let other = kit.account(1_000).await;
    let otps = kit.store.otps();
    for (account, environment) in [(other, LIVE), (account, Environment::Sandbox)] {
        assert_eq!(otps.get(account, environment, text.id).await.unwrap(), None);
        let cancelled = otps
            .cancel(account, environment, text.id, otp_moment(NOW), None)
            .await;
        assert_eq!(cancelled.unwrap(), None);
        let codes = (text.code(KEY), given("000000"));
        let verified = otps.verify(account, environment, text.id, codes, otp_moment(NOW), None);
        assert_eq!(verified.await.unwrap(), None);
    }
}

async fn a_code_is_verified_once_and_wrong_ones_are_counted(kit: &Kit) {
    let text = text(3);
    let account = made(kit, text).await;
    let right: Code = text.code(KEY);
    let wrong = wrong(text);
    let verify = async |code: &str| {
        let codes = (right.clone(), given(code));
        let verified =
            kit.store
                .otps()
                .verify(account, LIVE, text.id, codes, otp_moment(NOW), None);
        let verified = change(verified.await.unwrap()).result;
        (verified.reason, verified.attempts_left)
    };
    assert_eq!(verify(wrong).await, (Some(Reason::Wrong), 1));
    assert_eq!(verify(right.as_str()).await, (None, 1));
    assert_eq!(
        verify(right.as_str()).await,
        (Some(Reason::AlreadyVerified), 1)
    );
}

async fn a_resend_is_decided_with_its_message(kit: &Kit) {
    let text = text(4);
    let account = made(kit, text).await;
    let again = async |after_ms| {
        let again = vec![message(kit, account, text, false)];
        let accepted = kit.store.messages().accept(NOW + after_ms, again);
        accepted.await.unwrap().remove(0)
    };
    let before = kit.balance(account).await;
    assert_eq!(
        again(1_000).await,
        Accepted::No(Refusal::OtpResendTooSoon { retry_after_s: 29 })
    );
    assert_eq!(kit.balance(account).await, before);
    for minutes in 1..=3 {
        assert!(matches!(
            again(minutes * MINUTE).await,
            Accepted::Yes { .. }
        ));
    }
    assert_eq!(
        again(4 * MINUTE).await,
        Accepted::No(Refusal::OtpResendsUsed { limit: 3 })
    );
    let unknown = vec![message(kit, account, self::text(404), false)];
    let accepted = kit.store.messages().accept(NOW, unknown).await.unwrap();
    assert_eq!(accepted, [Accepted::No(Refusal::UnknownMessage)]);
}

async fn a_number_gets_as_many_messages_as_allowed(kit: &Kit) {
    let account = kit.account(1_000).await;
    // Messages of the same commit count as well.
    let together = (10..17).map(|number| message(kit, account, text(number), true));
    let accepted = kit.store.messages().accept(NOW, together.collect()).await;
    let accepted = accepted.unwrap();
    let count = accepted
        .iter()
        .filter(|one| matches!(one, Accepted::Yes { .. }));
    assert_eq!(count.count(), 5);
    assert_eq!(
        accepted[6],
        Accepted::No(Refusal::OtpTooOften {
            limit: 5,
            retry_after_s: 3_600
        })
    );
    let later = vec![message(kit, account, text(20), true)];
    let later = kit
        .store
        .messages()
        .accept(NOW + 60 * MINUTE, later)
        .await
        .unwrap();
    assert!(matches!(later[0], Accepted::Yes { .. }));
}

async fn a_cancelled_one_is_final(kit: &Kit) {
    let text = text(5);
    let account = made(kit, text).await;
    let cancel = async || {
        let otps = kit.store.otps();
        let cancelled = otps
            .cancel(account, LIVE, text.id, otp_moment(NOW), None)
            .await;
        cancelled.unwrap()
    };
    let otp = change(cancel().await).otp;
    assert_eq!(otp.verification.state(NOW), OtpState::Cancelled);
    let again = cancel().await.unwrap();
    assert!(matches!(again, Outcome::Refused(Refusal::TooLate(_))));
}

pub(super) fn change<R: Debug>(outcome: Option<Outcome<OtpChange<R>>>) -> OtpChange<R> {
    match outcome.unwrap() {
        Outcome::Made(change) => change,
        other => panic!("{other:?}"),
    }
}

/// A key whose answer is the number of attempts that are left.
fn attempts_left(name: &str, request: u8) -> KeyedChange<OtpChange<Verified>> {
    KeyedChange {
        request: request_of(name, request),
        answer: Arc::new(|change: &OtpChange<Verified>| StoredAnswer {
            status: 200,
            body: change.result.attempts_left.to_string(),
            message: Some(change.otp.message),
        }),
    }
}

fn wrong(text: OtpText) -> &'static str {
    match text.code(KEY).as_str() {
        "000000" => "111111",
        _ => "000000",
    }
}

async fn a_change_under_a_key_is_made_once(kit: &Kit) {
    let text = text(7);
    let account = made(kit, text).await;
    let verify = async |name: &str, request, now_ms| {
        let codes = (text.code(KEY), given(wrong(text)));
        let keyed = Some(attempts_left(name, request));
        let otps = kit.store.otps();
        let verified = otps.verify(account, LIVE, text.id, codes, otp_moment(now_ms), keyed);
        verified.await.unwrap().unwrap()
    };
    let first = verify("one", 1, NOW).await;
    let Outcome::Made(first) = first else {
        panic!("{first:?}")
    };
    assert_eq!(first.result.attempts_left, 1);
    let again = Outcome::Replay(StoredAnswer {
        status: 200,
        body: "1".to_owned(),
        message: Some(first.otp.message),
    });
    assert_eq!(verify("one", 1, NOW + DAY_MS - 1).await, again);
    let used = Outcome::Refused(Refusal::KeyUsed);
    assert_eq!(verify("one", 2, NOW).await, used);
    let last = change(Some(verify("two", 1, NOW).await)).result;
    assert_eq!((last.reason, last.attempts_left), (Some(Reason::Wrong), 0));
}

async fn a_refused_change_leaves_its_key_free(kit: &Kit) {
    let (text, other) = (text(8), text(9));
    let account = made(kit, text).await;
    let second = message(kit, account, other, true);
    assert!(matches!(kit.accept(&second).await, Accepted::Yes { .. }));
    let cancel = async |id, request| {
        let keyed = KeyedChange {
            request: request_of("one", request),
            answer: Arc::new(|change: &OtpChange<()>| StoredAnswer {
                status: 200,
                body: String::new(),
                message: Some(change.otp.message),
            }),
        };
        let otps = kit.store.otps();
        let cancelled = otps.cancel(account, LIVE, id, otp_moment(NOW), Some(keyed));
        cancelled.await.unwrap()
    };
    let otps = kit.store.otps();
    let without_key = otps
        .cancel(account, LIVE, text.id, otp_moment(NOW), None)
        .await;
    change(without_key.unwrap());
    let late = cancel(text.id, 1).await.unwrap();
    assert!(matches!(late, Outcome::Refused(Refusal::TooLate(_))));
    assert_eq!(cancel(self::text(404).id, 2).await, None);
    change(cancel(other.id, 3).await);
    let kept = "select count(*) from idempotency_keys";
    assert_eq!(kit.numbers(kept).await, [1]);
}

async fn attempts_at_once_under_one_key_count_once(kit: &Kit) {
    let text = text(10);
    let account = made(kit, text).await;
    let mut attempts = JoinSet::new();
    for _ in 0..8 {
        let store = kit.store.clone();
        let codes = (text.code(KEY), given(wrong(text)));
        attempts.spawn(async move {
            let keyed = Some(attempts_left("one", 1));
            let otps = store.otps();
            let verified = otps.verify(account, LIVE, text.id, codes, otp_moment(NOW), keyed);
            verified.await.unwrap().unwrap()
        });
    }
    let outcomes = attempts.join_all().await;
    let first = outcomes
        .iter()
        .filter(|one| matches!(one, Outcome::Made(_)));
    assert_eq!(first.count(), 1);
    let otp = kit.store.otps().get(account, LIVE, text.id).await.unwrap();
    assert_eq!(otp.unwrap().verification.wrong_attempts, 1);
}

async fn old_one_time_passwords_are_removed(kit: &Kit) {
    let text = text(6);
    let account = made(kit, text).await;
    let day = 24 * 60 * MINUTE;
    for (now_ms, is_left) in [(NOW + day, true), (NOW + day + 1, false)] {
        while kit.tidy(now_ms).await {}
        let left = kit.store.otps().get(account, LIVE, text.id).await.unwrap();
        assert_eq!(left.is_some(), is_left);
    }
    // Its message has no text any more, so it must not be sent without its code.
    let later = Claim {
        now_ms: NOW + day,
        ..claim(10)
    };
    let claimed = kit.store.claims().claim(later).await.unwrap();
    assert_eq!(claimed[0].content.body, Body::Personalised(HashMap::new()));
}

async fn all_nodes_have_one_server_key(kit: &Kit) {
    let first = kit.store.otps().server_key([1; 32]).await.unwrap();
    assert_eq!(first, [1; 32]);
    assert_eq!(kit.store.otps().server_key([2; 32]).await.unwrap(), first);
}
