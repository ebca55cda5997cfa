use super::*;

const ACCOUNT: AccountId = AccountId(7);
const PAUSE_MS: i64 = 600_000;
const LIMITS: VelocityLimits = VelocityLimits {
    per_recipient: Some(2),
    per_block: Some(5),
    pause_ms: PAUSE_MS,
};

/// Returns numbers of the same block.
fn numbers(range: std::ops::Range<u64>) -> Vec<Recipient> {
    range
        .map(|last| Recipient::from_digits(2_348_031_234_000 + last))
        .collect()
}

fn block() -> Block {
    Block::of(numbers(0..1)[0])
}

fn goes(velocity: &mut Velocity, recipients: &[Recipient], now_ms: i64) -> bool {
    velocity.judge(ACCOUNT, recipients, &LIMITS, now_ms) == VelocityVerdict::Allowed
}

#[test]
fn a_number_gets_at_most_its_limit_in_an_hour() {
    let mut velocity = Velocity::default();
    let to = numbers(1..2);
    assert!(goes(&mut velocity, &to, HOUR_MS));
    assert!(goes(&mut velocity, &to, HOUR_MS + 1));
    let refused = velocity.judge(ACCOUNT, &to, &LIMITS, 2 * HOUR_MS - 90_000);
    let VelocityVerdict::Refused(refusal) = refused else {
        panic!("{refused:?}")
    };
    insta::assert_snapshot!(refusal, @"At most 2 messages an hour may go to one number, and this account has sent them to a number of 2348031234***. Nothing was sent or charged; leave that number out, or retry after 90 s.");
    let other = AccountId(8);
    assert_eq!(
        velocity.judge(other, &to, &LIMITS, HOUR_MS + 2),
        VelocityVerdict::Allowed
    );
    assert!(goes(&mut velocity, &to, 2 * HOUR_MS));
}

#[test]
fn a_check_decides_as_a_send_and_counts_nothing() {
    let mut velocity = Velocity::default();
    let (to, many) = (numbers(1..2), numbers(0..6));
    for _ in 0..9 {
        let verdict = velocity.check(ACCOUNT, &to, &LIMITS, 0);
        assert_eq!(verdict, VelocityVerdict::Allowed);
        let verdict = velocity.check(ACCOUNT, &many, &LIMITS, 0);
        assert_eq!(verdict, VelocityVerdict::Pause(block()));
    }
    assert!(goes(&mut velocity, &to, 0) && goes(&mut velocity, &to, 0));
    let refused = velocity.check(ACCOUNT, &to, &LIMITS, 0);
    assert_eq!(refused, velocity.judge(ACCOUNT, &to, &LIMITS, 0));
    assert!(matches!(refused, VelocityVerdict::Refused(_)));
}

#[test]
fn an_account_is_reported_once_in_an_hour() {
    let mut velocity = Velocity::default();
    let report_once = |velocity: &mut Velocity, account, now_ms| {
        velocity.judge(account, &numbers(0..1), &LIMITS, now_ms);
        velocity.report_once(account)
    };
    assert!(report_once(&mut velocity, ACCOUNT, 0));
    assert!(!report_once(&mut velocity, ACCOUNT, HOUR_MS - 1));
    assert!(report_once(&mut velocity, AccountId(8), HOUR_MS - 1));
    assert!(report_once(&mut velocity, ACCOUNT, HOUR_MS));
}

#[test]
fn a_block_above_its_limit_is_paused() {
    let mut velocity = Velocity::default();
    assert!(goes(&mut velocity, &numbers(0..5), 0));
    let more = velocity.judge(ACCOUNT, &numbers(5..6), &LIMITS, 1);
    assert_eq!(more, VelocityVerdict::Pause(block()));
    let elsewhere = [Recipient::from_digits(2_348_031_235_000)];
    assert!(goes(&mut velocity, &elsewhere, 1));
    // A single send may exceed the limit, and a refused send is not counted.
    let mut velocity = Velocity::default();
    let many = velocity.judge(ACCOUNT, &numbers(0..6), &LIMITS, 0);
    assert_eq!(many, VelocityVerdict::Pause(block()));
    assert!(goes(&mut velocity, &numbers(0..5), 0));
}

#[test]
fn a_paused_block_is_refused_until_its_end_or_release() {
    let mut velocity = Velocity::default();
    let pause = |until_ms| HashMap::from([((ACCOUNT, block()), until_ms)]);
    assert!(goes(&mut velocity, &numbers(0..5), 0));
    velocity.set_paused(pause(PAUSE_MS));
    let mixed = [
        numbers(7..8),
        vec![Recipient::from_digits(2_348_051_234_567)],
    ]
    .concat();
    assert_eq!(
        velocity.judge(ACCOUNT, &mixed, &LIMITS, PAUSE_MS - 1_500),
        VelocityVerdict::Refused(Refusal::BlockPaused {
            block: block(),
            retry_after_s: 2
        })
    );
    assert!(goes(&mut velocity, &numbers(10..15), PAUSE_MS));
    assert!(!goes(&mut velocity, &numbers(15..16), PAUSE_MS));
    velocity.set_paused(pause(2 * PAUSE_MS));
    assert!(!goes(&mut velocity, &numbers(20..21), PAUSE_MS + 1));
    velocity.set_paused(HashMap::new());
    assert!(goes(&mut velocity, &numbers(20..25), PAUSE_MS + 2));
}

#[test]
fn a_send_that_is_refused_later_is_not_counted() {
    let mut velocity = Velocity::default();
    let to = numbers(0..5);
    for _ in 0..10 {
        assert!(goes(&mut velocity, &to, 0));
        velocity.take_back(ACCOUNT, &to);
    }
    velocity.take_back(ACCOUNT, &numbers(50..51));
    assert!(goes(&mut velocity, &to, 0));
    assert!(!goes(&mut velocity, &to, 0));
}

#[test]
fn an_unset_limit_neither_limits_nor_counts() {
    let mut velocity = Velocity::default();
    assert!(!VelocityLimits::default().are_set());
    for _ in 0..10 {
        let verdict = velocity.judge(ACCOUNT, &numbers(0..9), &VelocityLimits::default(), 0);
        assert_eq!(verdict, VelocityVerdict::Allowed);
    }
    assert!(velocity.blocks.is_empty() && velocity.recipients.is_empty());
}

#[test]
fn the_number_of_counted_numbers_has_a_bound() {
    let mut counts = HashMap::new();
    for key in 0..MAX_COUNTED + 5 {
        count(&mut counts, key, 1);
    }
    assert_eq!(counts.len(), MAX_COUNTED);
    // At the bound, a key that has an entry is still counted.
    count(&mut counts, 1, 1);
    assert_eq!(counts[&1], 2);
}

#[test]
fn a_block_is_read_as_it_is_displayed() {
    assert_eq!(block().to_string(), "2348031234***");
    for text in ["2348031234***", "2348031234"] {
        assert_eq!(text.parse(), Ok(block()), "{text}");
    }
    for text in [
        "",
        "***",
        "2348031234567",
        "+2348031234",
        "234",
        "2348031234**",
        "x",
    ] {
        assert_eq!(text.parse::<Block>(), Err(NotBlock), "{text}");
    }
}
