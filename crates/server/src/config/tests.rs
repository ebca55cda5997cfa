use super::*;
use domain::{Gateway, InDoubt, Money};
use std::time::Duration;

const LIVE: &str = r#"
[carriers.mtn]
address = "smsc.example.ng:2775"
system_id = "ogene"
password = "hush-hsh"
[carriers.aggregator]
address = "192.0.2.7:2775"
system_id = "ogene"
password = "hush"
[gateways.direct-refund]
carriers = ["mtn"]
[gateways.direct-corporate]
carriers = { mtn = ["mtn"], default = ["aggregator", "mtn"] }
price = 7.25
prices = { glo = "6.50", t2 = { price = "7.00", unicode_price = "7.00" } }
account_prices = { 42 = "5.10" }
quiet_hours = "20:00-08:00"
in_doubt = "hold"
[gateways.otp]
carriers = ["aggregator"]
[gateways.dual-backup]
"#;

fn read(text: &str) -> Result<Config, Vec<ConfigFault>> {
    Config::read(text, "ogene.toml", [])
}

fn variables<const N: usize>(pairs: [(&str, &str); N]) -> [(String, String); N] {
    pairs.map(|(name, text)| (name.to_owned(), text.to_owned()))
}

fn faults(text: &str) -> String {
    let faults = read(text).expect_err("the file has faults");
    let lines: Vec<_> = faults.iter().map(ConfigFault::to_string).collect();
    lines.join("\n")
}

/// Checks the fault of a file in which one part is another.
fn has_fault(whole: &str, (part, instead): (&str, &str), fault: &str) {
    assert!(whole.contains(part), "{part}");
    let message = faults(&whole.replacen(part, instead, 1));
    assert!(message.contains(fault), "{instead}: {message}");
}

fn rules(config: &Config, gateway: Gateway) -> &GatewayRules {
    config
        .gateways
        .iter()
        .find(|rules| rules.gateway == gateway)
        .expect("it is configured")
}

#[test]
fn the_default_file_has_no_fault_and_says_what_nothing_says() {
    let (none, default) = (
        read("").expect("no fault"),
        read(DEFAULT).expect("no fault"),
    );
    assert_eq!(format!("{none:?}"), format!("{default:?}"));
    assert_eq!(none.data_dir, Path::new("data"));
    assert_eq!(none.http.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(none.limits.engine.sends_per_minute, 1000);
    assert_eq!(none.limits.engine.reports_per_minute, 60);
    assert_eq!(none.limits.engine.reads_per_minute, 300);
    assert_eq!(none.limits.engine.unknown_tokens_per_minute, 60);
    assert_eq!(none.http.trusted_proxies, []);
    assert_eq!(none.limits.max_recipients, 10_000);
    assert_eq!(none.limits.max_body_bytes, 10 << 20);
    assert_eq!(none.limits.body_memory_bytes, 256 << 20);
    assert_eq!(none.callbacks.retry_delays.len(), 10);
    assert_eq!(
        none.callbacks.retry_delays.last(),
        Some(&Duration::from_hours(24))
    );
    assert_eq!(none.retention, engine::Retention::default(), "for ever");
}

#[test]
fn without_gateways_the_sandbox_has_all_and_a_note_names_it() {
    let config = read("").expect("no fault");
    let gateways = config.settings().rules.gateways;
    let names: Vec<_> = gateways
        .iter()
        .map(|rules| rules.gateway.as_str())
        .collect();
    assert_eq!(
        names,
        ["direct-refund", "direct-corporate", "otp", "dual-backup"]
    );
    assert!(
        gateways
            .iter()
            .all(|rules| rules.preference.carriers(None).is_empty())
    );
    assert_eq!(config.notes.len(), 1);
}

/// Returns the lines of the default file with all its examples. Lines that name missing files, or
/// enable features that are off by default, are left out.
fn stated_lines() -> Vec<String> {
    const NOT_STATED: [&str; 13] = [
        "database_url",
        "tls = {",
        "tls_listen",
        "tls_ca",
        "password_file",
        "max_per_second",
        "quiet_hours",
        "messages = ",
        "bodies = ",
        "bonus = ",
        "secret_key_file",
        "secret_hash_file",
        "api_key_file",
    ];
    let is_stated = |line: &&str| !NOT_STATED.iter().any(|key| line.starts_with(key));
    let examples = super::variables::uncommented();
    examples
        .lines()
        .filter(is_stated)
        .map(str::to_owned)
        .collect()
}

/// The keys that the default file shows as comments have the same values when they are set.
#[test]
fn the_examples_of_the_default_file_state_the_defaults() {
    let given = stated_lines();
    let required = [
        "address",
        "system_id",
        "username",
        "password",
        "carriers = ",
        "public_url",
        "default = ",
        "secret_key",
        "secret_hash",
        "api_key",
        "contract_code",
    ];
    let left_out: Vec<_> = given
        .iter()
        .filter(|line| line.starts_with('[') || required.iter().any(|key| line.starts_with(key)))
        .cloned()
        .collect();
    let stated = read(&given.join("\n")).expect("the examples have no fault");
    let silent = read(&left_out.join("\n")).expect("what is required is enough");
    assert!(stated.carriers == silent.carriers);
    assert!(stated.carrier_rules == silent.carrier_rules);
    assert_eq!(stated.callbacks, silent.callbacks);
    assert_eq!(
        format!("{:?}", stated.payments),
        format!("{:?}", silent.payments)
    );
    for (stated, silent) in stated.gateways.iter().zip(&silent.gateways) {
        let mut stated = stated.clone();
        stated
            .preference
            .networks
            .clone_from(&silent.preference.networks);
        assert_eq!(format!("{stated:?}"), format!("{silent:?}"));
    }
}

#[test]
fn the_default_file_shows_the_built_in_number_plan() {
    let text: String = super::variables::uncommented();
    let networks = text
        .split("[networks]")
        .nth(1)
        .and_then(|rest| rest.split("\n# -").next());
    let networks = read(&format!("[networks]{}", networks.expect("the section")))
        .expect("no fault")
        .plan;
    for operator in NumberPlan::nigeria().networks() {
        assert!(networks.networks().contains(operator), "{operator}");
    }
    for beginning in 7000..10_000 {
        let Some(recipient) = domain::parse_national(&format!("0{beginning}123456")) else {
            continue;
        };
        let name = |plan: &NumberPlan| {
            plan.network_of(recipient)
                .map(|index| plan.networks()[usize::from(index)].clone())
        };
        assert_eq!(name(&networks), name(&NumberPlan::nigeria()), "{beginning}");
    }
}

#[test]
fn what_a_gateway_leaves_out_follows_its_own_rule() {
    let config = read(LIVE).expect("no fault");
    let table = [
        (Gateway::DirectRefund, true, false, 48 * 60, "6.00", "12.00"),
        (
            Gateway::DirectCorporate,
            false,
            true,
            48 * 60,
            "7.25",
            "14.50",
        ),
        (Gateway::Otp, false, true, 10, "8.00", "16.00"),
    ];
    for (gateway, refund, transactional, minutes, plain, unicode) in table {
        let rules = rules(&config, gateway);
        assert_eq!(rules.refund_undelivered, refund, "{gateway:?}");
        assert_eq!(rules.transactional, transactional, "{gateway:?}");
        assert_eq!(rules.validity_ms, minutes * 60_000, "{gateway:?}");
        assert_eq!(rules.receipt_timeout_ms, minutes * 60_000, "{gateway:?}");
        assert_eq!(rules.tariff.base.plain.to_string(), plain, "{gateway:?}");
        assert_eq!(
            rules.tariff.base.unicode.to_string(),
            unicode,
            "{gateway:?}"
        );
    }
    let dual = rules(&config, Gateway::DualBackup);
    assert!(!dual.transactional && !dual.refund_undelivered);
    let legs = dual.legs.expect("legs");
    assert_eq!(
        (legs.first, legs.second),
        (Gateway::DirectRefund, Gateway::DirectCorporate)
    );
    assert_eq!(legs.timeout_ms, 120_000);
}

#[test]
fn carriers_and_prices_are_found_by_network_and_account() {
    let config = read(LIVE).expect("no fault");
    let index = |name: &str| {
        config
            .carriers
            .iter()
            .position(|carrier| carrier.name == name)
    };
    let network = |name: &str| {
        let index = config
            .plan
            .networks()
            .iter()
            .position(|network| network == name)?;
        u8::try_from(index).ok()
    };
    let (mtn, aggregator) = (
        index("mtn").expect("mtn"),
        index("aggregator").expect("aggregator"),
    );
    let rules = rules(&config, Gateway::DirectCorporate);
    assert_eq!(rules.preference.carriers(network("mtn")), [mtn]);
    assert_eq!(rules.preference.carriers(network("glo")), [aggregator, mtn]);
    let price = |account, name| {
        let price = rules
            .tariff
            .price(domain::AccountId(account), network(name));
        (price.plain.to_string(), price.unicode.to_string())
    };
    let pair = |plain: &str, unicode: &str| (plain.to_owned(), unicode.to_owned());
    assert_eq!(price(1, "glo"), pair("6.50", "13.00"));
    assert_eq!(price(1, "t2"), pair("7.00", "7.00"));
    assert_eq!(price(1, "mtn"), pair("7.25", "14.50"));
    assert_eq!(price(42, "glo"), pair("5.10", "10.20"));
    assert_eq!(rules.in_doubt, InDoubt::Hold);
    let quiet = rules.quiet_hours.expect("quiet hours");
    assert_eq!((quiet.from_minute, quiet.until_minute), (20 * 60, 8 * 60));
}

#[test]
fn a_window_is_never_larger_than_its_limit_of_doubt() {
    let table = [
        ("window = 50", 400),
        ("window = 400", 600),
        ("window = 50\nin_doubt_limit = 50", 50),
        ("in_doubt_limit = 100000", 100_000),
    ];
    for (keys, expected) in table {
        let config = LIVE.replacen("[carriers.mtn]", &format!("[carriers.mtn]\n{keys}"), 1);
        let config = read(&config).expect("valid");
        let carriers = config.carriers.iter();
        let limits: Vec<_> = carriers.map(|carrier| carrier.in_doubt_limit).collect();
        assert!(limits.contains(&expected), "{keys}: {limits:?}");
    }
    let keys = "[carriers.mtn]\nwindow = 50\nin_doubt_limit = 49";
    insta::assert_snapshot!(
        faults(&LIVE.replacen("[carriers.mtn]", keys, 1)),
        @"ogene.toml:4: carriers.mtn.in_doubt_limit: must be from 50 to 100000, not 49"
    );
}

#[test]
fn what_a_gateway_with_legs_has_of_its_legs_is_refused_there() {
    for line in [
        "price = 5",
        "quiet_hours = \"20:00-08:00\"",
        "in_doubt = \"hold\"",
        "in_doubt_hold = \"5s\"",
    ] {
        let message = faults(&format!("{LIVE}{line}\n"));
        assert!(
            message.ends_with("has that of its legs; leave it out here"),
            "{message}"
        );
    }
}

/// A receipt is matched for seven days, and a time that is far away does not fit into milliseconds.
#[test]
fn every_duration_has_bounds_which_the_fault_names() {
    let bounds = [
        ("http", "idle_timeout", "999ms", "1s", "1h"),
        ("http", "body_timeout", "2h", "1s", "1h"),
        ("velocity", "pause", "366d", "1s", "365d"),
        ("sandbox", "keep", "59m", "1h", "8d"),
        ("carriers.mtn", "enquire_link", "9ms", "10ms", "1h"),
        ("carriers.mtn", "response_timeout", "61m", "10ms", "1h"),
        ("gateways.otp", "validity", "8d", "10ms", "7d"),
        ("gateways.otp", "receipt_timeout", "8d", "10ms", "7d"),
        (
            "gateways.otp",
            "in_doubt_hold",
            "18446744073709551615ms",
            "0ms",
            "7d",
        ),
        (
            "gateways.dual-backup",
            "receipt_timeout",
            "169h",
            "10ms",
            "7d",
        ),
        ("gateways.dual-backup", "leg_timeout", "0s", "10ms", "7d"),
    ];
    for (section, key, value, least, most) in bounds {
        let message = if value == "0s" { "0ms" } else { value };
        let header = format!("[{section}]\n");
        let with = |value: &str| {
            let line = format!("{header}{key} = {value:?}\n");
            if LIVE.contains(&header) {
                LIVE.replace(&header, &line)
            } else {
                format!("{LIVE}{line}")
            }
        };
        let expected = format!("{section}.{key}: must be from {least} to {most}, not {message}");
        assert!(faults(&with(value)).ends_with(&expected), "{expected}");
        for bound in [least, most] {
            assert!(read(&with(bound)).is_ok(), "{key} = {bound}");
        }
    }
    let retries = "[callbacks]\nretry_delays = [\"5s\", \"8d\"]";
    assert!(faults(retries).ends_with("a delay must be from 1ms to 7d, not 8d"));
    let kept = "[retention]\nmessages = \"7301d\"";
    assert!(faults(kept).ends_with("must be at most 7300d; leave it out to keep all for ever"));
}

const FAULTY: &str = r#"
data_dir = 7
databse_url = "x"
[http]
listen = "localhost"
lisen = "127.0.0.1:1"
trusted_proxies = ["10.0.0.1/8"]
[limits]
sends_per_minute = 0
max_recipients = 200000
max_body = "10 megs"
body_memory = "128KiB"
[callbacks]
retry_delays = ["5s", "soon", "0s"]
[log]
format = "xml"
[networks]
mtn = ["0803", "2348"]
[carriers.mtn]
address = "smsc.example.ng"
system_id = "far-too-long-for-smpp"
window = 0
windw = 5
enquire_link = "0s"
receipt_ids = "hex"
[carriers.Two]
address = "h:1"
system_id = ""
password = "123456789"
password_file = "/nowhere"
[gateways.direct-refund]
carriers = ["mtm"]
price = "-1.00"
unicode_price = "free"
prices = { gol = "6.00" }
account_prices = { someone = "5.00" }
transactional = "maybe"
quiet_hours = "20-8"
legs = ["otp", "direct-corporate"]
[gateways.direct-corporate]
price = "1.00001"
[gateways.dual-backup]
legs = ["dual-backup", "otp"]
price = "5.00"
[gateways.international]
carriers = ["mtn", "mtn"]
price = "2000000"
[carriers.sandbox]
address = "h:1"
system_id = "o"
password = "p"
[gateways.direct-refnd]
carriers = []
[retention]
messages = "90"
boddies = "30d"
"#;

#[test]
fn every_fault_is_named_at_once_with_its_key_and_line() {
    insta::assert_snapshot!(faults(FAULTY), @r#"
    ogene.toml:2: data_dir: must be a text in quotes, not a number
    ogene.toml:3: databse_url: unknown key; did you mean `database_url`?
    ogene.toml:5: http.listen: "localhost" is not an IP address and port such as 127.0.0.1:8080
    ogene.toml:6: http.lisen: unknown key; did you mean `listen`?
    ogene.toml:7: http.trusted_proxies: item 1: `10.0.0.1/8` has bits behind its prefix: the range begins at 10.0.0.0
    ogene.toml:9: limits.sends_per_minute: must be from 1 to 1000000000, not 0
    ogene.toml:10: limits.max_recipients: must be from 1 to 100000, not 200000
    ogene.toml:11: limits.max_body: "10 megs" is not a size such as 64KiB or 10MiB
    ogene.toml:12: limits.body_memory: must be from 256KiB to 1024GiB, not 128KiB
    ogene.toml:14: callbacks.retry_delays: item 2: "soon" is not a duration such as 500ms, 30s, 2m, 48h or 7d
    ogene.toml:16: log.format: must be one of "auto", "json", "text", not "xml"
    ogene.toml:17: networks: network mtn: prefix "2348" is not a local form such as 0703 or 07025
    ogene.toml:19: carriers.mtn.password: is missing; give it here or in the file of `password_file`
    ogene.toml:20: carriers.mtn.address: "smsc.example.ng" is not a host and port such as smsc.example.ng:2775
    ogene.toml:21: carriers.mtn.system_id: has 21 characters; at most 15 are allowed
    ogene.toml:22: carriers.mtn.window: must be from 1 to 10000, not 0
    ogene.toml:23: carriers.mtn.windw: unknown key; did you mean `window`?
    ogene.toml:24: carriers.mtn.enquire_link: must be from 10ms to 1h, not 0ms
    ogene.toml:25: carriers.mtn.receipt_ids: must be one of "exact", "hex-response-decimal-receipt", "decimal-response-hex-receipt", "numeric", not "hex"
    ogene.toml:26: carriers.Two: a carrier's name has only a to z, digits, `-` and `_`
    ogene.toml:28: carriers.Two.system_id: must not be empty
    ogene.toml:30: carriers.Two.password_file: give either `password` or `password_file`, not both
    ogene.toml:32: gateways.direct-refund.carriers: there is no section [carriers.mtm]; did you mean `mtn`?
    ogene.toml:33: gateways.direct-refund.price: must not be negative
    ogene.toml:34: gateways.direct-refund.unicode_price: "free" is not an amount in naira with at most four decimals, such as 1000.00
    ogene.toml:35: gateways.direct-refund.prices: there is no network `gol`; did you mean `glo`?
    ogene.toml:36: gateways.direct-refund.account_prices: "someone" is not a user_id
    ogene.toml:37: gateways.direct-refund.transactional: must be one of "refuse", "allow", not "maybe"
    ogene.toml:38: gateways.direct-refund.quiet_hours: "20-8" is not two times such as 20:00-08:00
    ogene.toml:39: gateways.direct-refund.legs: only dual-backup has legs
    ogene.toml:40: gateways.direct-corporate.carriers: is missing
    ogene.toml:41: gateways.direct-corporate.price: "1.00001" is not an amount in naira with at most four decimals, such as 1000.00
    ogene.toml:43: gateways.dual-backup.legs: a leg cannot be dual-backup itself
    ogene.toml:43: gateways.dual-backup.legs: there is no section [gateways.otp] for this leg
    ogene.toml:44: gateways.dual-backup.price: a gateway with legs has that of its legs; leave it out here
    ogene.toml:46: gateways.international.carriers: names `mtn` twice
    ogene.toml:47: gateways.international.price: must be at most 100000.00
    ogene.toml:48: carriers.sandbox: this name is taken: the sandbox has a carrier of its own
    ogene.toml:52: gateways.direct-refnd: there is no such gateway; did you mean `direct-refund`?
    ogene.toml:55: retention.messages: "90" is not a duration such as 500ms, 30s, 2m, 48h or 7d
    ogene.toml:56: retention.boddies: unknown key; did you mean `bodies`?
    "#);
}

#[test]
fn old_data_is_kept_until_nothing_needs_it_any_more() {
    const DAY_MS: i64 = 86_400_000;
    let kept = |messages: &str, bodies: &str, more: &str| {
        read(&format!(
            "[retention]\nmessages = {messages:?}\nbodies = {bodies:?}\n{more}"
        ))
    };
    let config = kept("8d", "72h", "").expect("no fault");
    let (messages_ms, bodies_ms) = (Some(8 * DAY_MS), Some(3 * DAY_MS));
    let expected = engine::Retention {
        messages_ms,
        bodies_ms,
        sandbox_ms: DAY_MS,
        receipts_ms: 8 * DAY_MS,
        requests_ms: 7 * DAY_MS,
    };
    assert_eq!(config.settings().retention, expected);
    let slow = LIVE.replacen(
        "quiet_hours = \"20:00-08:00\"",
        "receipt_timeout = \"7d\"",
        1,
    );
    kept("10d", "8d", &slow).expect("a week, a day, and two days of callbacks");
    let quick = format!("[callbacks]\nretry_delays = [\"1d\"]\n{slow}");
    kept("9d", "8d", &quick).expect("a week, a day, and a day of callbacks");
    let faults = |messages, bodies, more: &str| {
        let faults = kept(messages, bodies, more).expect_err("faults");
        let lines: Vec<_> = faults.iter().map(ConfigFault::to_string).collect();
        lines.join("\n")
    };
    insta::assert_snapshot!(faults("7d", "2d", ""), @r"
    ogene.toml:2: retention.messages: must be at least 8d: 8d, or the longest `receipt_timeout` of a gateway with all `callbacks.retry_delays` and a day, whichever is more
    ogene.toml:3: retention.bodies: must be at least 3d: 3d, or the longest `receipt_timeout` of a gateway and a day, whichever is more
    ");
    insta::assert_snapshot!(faults("9d", "7d", &slow), @r"
    ogene.toml:2: retention.messages: must be at least 10d: 8d, or the longest `receipt_timeout` of a gateway with all `callbacks.retry_delays` and a day, whichever is more
    ogene.toml:3: retention.bodies: must be at least 8d: 3d, or the longest `receipt_timeout` of a gateway and a day, whichever is more
    ");
    insta::assert_snapshot!(faults("30d", "31d", ""), @"ogene.toml:3: retention.bodies: must not be longer than `messages`: a text goes with its message");
}

#[test]
fn what_is_not_toml_is_named_by_line_alone() {
    insta::assert_snapshot!(faults("[http]\nlisten = \n[limits\n"), @r"
    ogene.toml:2: not TOML: string values must be quoted, expected literal string
    ogene.toml:3: not TOML: unclosed table, expected `]`
    ");
}

#[test]
fn a_database_url_names_a_postgresql_server_and_shows_nowhere() {
    let config = read("database_url = \"postgres://u:p4ss@h/d\"").expect("no fault");
    let ::database::Target::Postgres(server) = config.target() else {
        panic!("the embedded database");
    };
    assert_eq!((server.host(), server.database()), ("h".to_owned(), "d"));
    assert!(!format!("{config:?}").contains("p4ss"));
    let misspelt = "database_url = \"postgres://h/d?pasword=p4ss\"\ndatabase_connections = 1";
    insta::assert_snapshot!(faults(misspelt), @r"
    ogene.toml:1: database_url: has a parameter `pasword` that nothing reads: leave it out
    ogene.toml:2: database_connections: must be from 2 to 200, not 1
    ");
    insta::assert_snapshot!(faults("database_url = \"mysql://u:p4ss@h/d\""), @"ogene.toml:1: database_url: must begin with postgres://, as in postgres://ogene:password@localhost/ogene; leave it out to use the embedded database in `data_dir`");
}

#[test]
fn variables_go_before_the_file() {
    let config = Config::read(
        LIVE,
        "ogene.toml",
        variables([
            ("OGENE_HTTP_LISTEN", "0.0.0.0:9"),
            ("OGENE_LIMITS_MAX_RECIPIENTS", "500"),
            ("OGENE_CALLBACKS_RETRY_DELAYS", "1s, 2s"),
            ("OGENE_CALLBACKS_ALLOW_PRIVATE_TARGETS", "true"),
            ("OGENE_CARRIERS_MTN_PASSWORD", "12345678"),
            ("OGENE_CARRIERS_MTN_MAX_PER_SECOND", "50"),
            ("OGENE_CARRIERS_NINE_MOBILE_ADDRESS", "h:2775"),
            ("OGENE_CARRIERS_NINE_MOBILE_SYSTEM_ID", "77"),
            ("OGENE_CARRIERS_NINE_MOBILE_PASSWORD", "pw"),
            ("OGENE_GATEWAYS_DIRECT_REFUND_PRICE", "6.5"),
            ("OGENE_GATEWAYS_DIRECT_REFUND_CARRIERS", "mtn,aggregator"),
            (
                "OGENE_GATEWAYS_OTP_CARRIERS",
                "{ mtn = [\"mtn\"], default = [\"nine_mobile\"] }",
            ),
            ("OGENE_PORT", "tcp://10.0.0.1:8080"),
            ("OGENE_CONFIG", "ogene.toml"),
            ("PATH", "/bin"),
        ]),
    )
    .expect("no fault");
    assert_eq!(config.http.listen.to_string(), "0.0.0.0:9");
    assert_eq!(config.limits.max_recipients, 500);
    assert_eq!(
        config.callbacks.retry_delays,
        [Duration::from_secs(1), Duration::from_secs(2)]
    );
    assert!(config.callbacks.allow_private_targets);
    let carrier = |name: &str| {
        config
            .carriers
            .iter()
            .find(|carrier| carrier.name == name)
            .expect("the carrier")
    };
    let account = |name: &str| carrier(name).smpp().expect("SMPP");
    assert_eq!(account("mtn").password, "12345678");
    assert_eq!(carrier("mtn").max_per_second, Some(50));
    assert_eq!(account("nine_mobile").system_id, "77");
    let refund = rules(&config, Gateway::DirectRefund);
    assert_eq!(refund.tariff.base.plain, Money::from_units(65_000));
    assert_eq!(refund.preference.default.len(), 2);
    assert_eq!(rules(&config, Gateway::Otp).preference.default.len(), 1);
    assert_eq!(config.notes, ["The variable OGENE_PORT sets no key."]);
}

#[test]
fn a_fault_of_a_variable_names_the_variable() {
    let faults = Config::read(
        "",
        "ogene.toml",
        variables([("OGENE_LIMITS_ACCEPT_QUEUE", "many")]),
    );
    let faults = faults.expect_err("a fault");
    assert_eq!(
        faults[0].to_string(),
        "OGENE_LIMITS_ACCEPT_QUEUE: limits.accept_queue: must be a whole number, not many"
    );
}

#[test]
fn secrets_come_from_files_and_show_nowhere() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("password");
    fs::write(&file, "hush-hsh\n").expect("written");
    let text = LIVE.replacen(
        "password = \"hush-hsh\"",
        &format!("password_file = {:?}", file.display().to_string()),
        1,
    );
    let config = read(&text).expect("no fault");
    let mtn = config
        .carriers
        .iter()
        .find(|carrier| carrier.name == "mtn")
        .expect("mtn");
    assert_eq!(mtn.smpp().expect("SMPP").password, "hush-hsh");
    assert!(!format!("{config:?}").contains("hush"));
    let long = faults(&LIVE.replace("hush-hsh", &"hush-much-too-long".repeat(4)));
    assert!(
        long.contains("carriers.mtn.password") && !long.contains("hush"),
        "{long}"
    );
}

#[test]
fn mail_needs_a_sender_a_public_url_and_tls_for_a_password() {
    let with = |public: &str, mail: &str| format!("[http]\n{public}\n[mail]\n{mail}\n");
    let public = "public_url = \"https://sms.example.ng\"";
    let server = "server = \"smtp.example.ng:587\"";
    let from = "from = \"Ogene <sms@example.ng>\"";
    let login = "username = \"ogene\"\npassword = \"hush-hsh\"";
    for (public, mail, fault) in [
        (
            "",
            format!("{server}\n{from}"),
            "mail.server: needs `http.public_url`",
        ),
        (public, server.to_owned(), "mail.from: is missing"),
        (
            public,
            format!("{server}\nfrom = \"Ogene\""),
            "is not a sender",
        ),
        (
            public,
            format!("server = \"smtp\"\n{from}"),
            "is not a host and port",
        ),
        (
            public,
            format!("{server}\n{from}\nusername = \"ogene\""),
            "needs `password`",
        ),
        (
            public,
            format!("{server}\n{from}\npassword = \"hush-hsh\""),
            "username: is missing",
        ),
        (
            public,
            format!("{server}\n{from}\n{login}\ntls = \"off\""),
            "in plain text",
        ),
    ] {
        let named = faults(&with(public, &mail));
        assert!(named.contains(fault), "{fault}: {named}");
        assert!(!named.contains("hush"), "{named}");
    }
    let local = format!("server = \"127.0.0.1:25\"\n{from}\n{login}\ntls = \"off\"");
    for mail in [format!("{server}\n{from}\n{login}"), local] {
        let config = read(&with(public, &mail)).expect("no fault");
        let login = config.mail.as_ref().and_then(|mail| mail.login.clone());
        assert_eq!(login, Some(("ogene".to_owned(), "hush-hsh".to_owned())));
        assert!(!format!("{config:?}").contains("hush"));
    }
    assert_eq!(read("").expect("no fault").mail, None);
}

#[test]
fn the_smtp_server_may_be_an_ipv6_address() {
    let public = "[http]\npublic_url = \"https://sms.example.ng\"";
    let from = "from = \"Ogene <sms@example.ng>\"";
    let config = read(&format!(
        "{public}\n[mail]\nserver = \"[::1]:25\"\n{from}\n"
    ));
    let mail = config.expect("no fault").mail.expect("a server");
    // The system resolves the address without its brackets.
    assert_eq!((&*mail.host, mail.port), ("::1", 25));
}

#[test]
fn a_file_that_is_not_there_is_a_fault() {
    let faults = Config::load(Some(Path::new("/nowhere/ogene.toml")), []).expect_err("a fault");
    assert!(
        faults[0]
            .to_string()
            .starts_with("/nowhere/ogene.toml: cannot be read")
    );
}

#[test]
fn files_for_tls_are_read_with_the_configuration() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("empty.pem");
    fs::write(&file, "").expect("written");
    let text = format!(
        "[http]\ntls = {{ certificate = {0:?}, key = {0:?} }}\n[carriers.mtn]\naddress = \"h:1\"\n\
         system_id = \"o\"\npassword = \"p\"\ntls = true\ntls_ca = {0:?}\n",
        file.display().to_string()
    );
    let named = faults(&text).replace(&file.display().to_string(), "FILE");
    insta::assert_snapshot!(named, @r"
    ogene.toml:2: http.tls: FILE cannot be used: holds no certificate
    ogene.toml:8: carriers.mtn.tls_ca: FILE cannot be used: holds no certificate
    ");
    let half = faults("[http]\ntls = { certificate = \"x.pem\", kee = \"y\" }");
    insta::assert_snapshot!(half, @r"
    ogene.toml:2: http.tls.key: is missing
    ogene.toml:2: http.tls.kee: unknown key; did you mean `key`?
    ");
}

#[test]
fn an_authority_for_a_connection_without_tls_is_a_fault() {
    let carrier = "[carriers.mtn]\naddress = \"h:1\"\nsystem_id = \"o\"\npassword = \"p\"\n";
    let ca = "tls_ca = \"/etc/ogene/mtn-ca.pem\"";
    for off in ["", "\ntls = false"] {
        assert_eq!(
            faults(&format!("{carrier}{ca}{off}")),
            "ogene.toml:5: carriers.mtn.tls_ca: is for TLS, which is off: set `tls = true`, or leave this out to \
             connect without TLS"
        );
    }
}

/// Each key of the file in turn gets values of wrong types and ranges.
#[test]
fn whatever_a_key_is_given_the_fault_names_it() {
    const ODD: [&str; 4] = ["\"x\"", "-1", "[[]]", "{ a = { b = 1 } }"];
    let lines = stated_lines();
    let mut section = String::new();
    let mut named = 0;
    for (at, line) in lines.iter().enumerate() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']').to_owned();
        }
        let Some((key, _)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) else {
            continue;
        };
        for odd in ODD {
            let mut given = lines.clone();
            given[at] = format!("{key} = {odd}");
            if let Err(faults) = read(&given.join("\n")) {
                let is_of_key =
                    |fault: &ConfigFault| fault.key.starts_with(&section) && !fault.text.is_empty();
                assert!(
                    faults.iter().any(is_of_key),
                    "{section}.{key} = {odd}: {faults:?}"
                );
                named += 1;
            }
        }
    }
    assert!(named > 100, "{named}");
}

#[test]
fn keys_that_need_a_restart_are_named_and_keep_their_value() {
    let running = read("").expect("no fault");
    let text = r#"
        data_dir = "elsewhere"
        database_url = "postgres://ada:hush@localhost/ogene"
        [http]
        listen = "127.0.0.1:9090"
        max_connections = 7
        idle_timeout = "7s"
        body_timeout = "7s"
        trusted_proxies = ["10.0.0.1"]
        [limits]
        body_memory = "1GiB"
        max_body = "7MiB"
        accept_queue = 7
        sends_per_minute = 7
        max_recipients = 7
        [callbacks]
        concurrency = 7
        [log]
        level = "debug"
        [retention]
        messages = "400d"
        [content]
        prohibited = ["casino"]
    "#;
    let mut again = read(text).expect("no fault");
    assert_eq!(
        restart::keep(&mut again, &running),
        [
            "data_dir",
            "database_url",
            "http.listen",
            "http.max_connections",
            "http.idle_timeout",
            "limits.max_body",
            "limits.body_memory",
            "limits.accept_queue",
            "retention",
            "callbacks",
            "log",
        ]
    );
    assert!(again.database.is_none());
    assert_eq!(again.data_dir, running.data_dir);
    assert_eq!(again.http.listen, running.http.listen);
    assert_eq!(again.callbacks, running.callbacks);
    assert_eq!(again.limits.max_body_bytes, running.limits.max_body_bytes);
    let applied = (
        again.limits.engine.sends_per_minute,
        again.limits.max_recipients,
        again.http.body_timeout,
        again.http.trusted_proxies.len(),
        again.prohibited.phrases().count(),
    );
    assert_eq!(applied, (7, 7, Duration::from_secs(7), 1, 1));
    // The next file is compared with the kept values.
    assert!(restart::keep(&mut again.clone(), &again).is_empty());

    let url = |end: &str| format!("database_url = \"postgres://ada@localhost/ogene\"\n{end}");
    let running = read(&url("")).expect("no fault");
    let mut again = read(&url("database_connections = 20")).expect("no fault");
    assert_eq!(
        restart::keep(&mut again, &running),
        ["database_connections"]
    );
    let mut same = read(&url("")).expect("no fault");
    assert!(restart::keep(&mut same, &running).is_empty());
}

#[test]
fn the_first_configuration_file_that_exists_is_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let [here, system] = ["here.toml", "system.toml"].map(|name| directory.path().join(name));
    let files = [&here, &system].map(|file| file.to_str().expect("text"));
    assert_eq!(first_of(&files), None);
    fs::write(&system, "").expect("written");
    assert_eq!(first_of(&files), Some(system.as_path()));
    fs::write(&here, "").expect("written");
    assert_eq!(first_of(&files), Some(here.as_path()));
    assert_eq!(FILES, ["ogene.toml", "/etc/ogene/ogene.toml"]);
}

/// A carrier by HTTP, and a gateway that uses it.
const BY_HTTP: &str = r#"
[http]
public_url = "https://sms.example.ng"
[carriers.agg]
kind = "http"
token = "t{0}ken"
window = 7
[carriers.agg.submit]
url = "https://api.example.com/send?ref={id}"
headers = { "X-Api-Key" = "{token}" }
json = { to = ["{to}"], text = "{body}", dlr = "{receipt_url}", parts = 1 }
id = "/data/id"
error = "/code"
accepted = ["ok"]
[carriers.agg.receipts]
secret = "0123456789abcdef"
id = "/id"
state = "/status"
states = { DELIVRD = ["Delivered"] }
[gateways.otp]
carriers = ["agg"]
"#;

#[test]
fn a_carrier_by_http_is_read() {
    let config = read(BY_HTTP).expect("no fault");
    let [carrier] = &config.carriers[..] else {
        panic!("{:?}", config.carriers)
    };
    assert_eq!((carrier.binds, carrier.window), (1, 7));
    let http = carrier.http().expect("HTTP");
    let url = "https://sms.example.ng/hooks/carriers/agg/0123456789abcdef";
    assert_eq!(http.receipt_url.as_deref(), Some(url));
    assert_eq!(http.server.as_str(), "https://api.example.com/");
    let request = http.submit.request(&domain::http_carrier::HttpMessage {
        to: "2348031234567",
        from: "Ogene",
        body: "Hello",
        id: "7f",
        receipt_url: "R",
        unicode: false,
    });
    assert_eq!(request.url, "https://api.example.com/send?ref=7f");
    assert_eq!(
        request.headers[0],
        ("x-api-key".to_owned(), "t{0}ken".to_owned())
    );
    let body = r#"{"dlr":"R","parts":1,"text":"Hello","to":["2348031234567"]}"#;
    assert_eq!(request.body, body);
    let shown = format!("{config:?}");
    assert!(!shown.contains("t{0}ken") && !shown.contains("0123456789abcdef"));
}

#[test]
fn a_fault_of_a_carrier_by_http_says_what_to_do() {
    for (part, instead, fault) in [
        (
            "kind = \"http\"",
            "kind = \"ftp\"",
            "must be one of \"smpp\", \"http\"",
        ),
        ("window = 7", "binds = 2", "carriers.agg.binds: unknown key"),
        ("text = \"{body}\", ", "", "has no {to} or no {body}"),
        (
            "{body}",
            "{text}",
            "has the placeholder {text}, which does not exist",
        ),
        (
            "id = \"/data/id\"",
            "id = \"data\"",
            "it must begin with `/`",
        ),
        ("accepted = [\"ok\"]", "", "submit.accepted: is missing"),
        ("X-Api-Key", "Host", "is no header that a request may set"),
        ("0123456789abcdef", "short", "must have 16 to 128 letters"),
        ("DELIVRD", "OK", "\"OK\" is no state; there are DELIVRD"),
        (
            "public_url = \"https://sms.example.ng\"",
            "",
            "needs `receipts` with a secret, and `http.public_url`",
        ),
        (
            "json = {",
            "form = { a = \"b\" }\njson = {",
            "give either `json` or `form`",
        ),
        ("error =", "method = \"GET\"\nerror =", "GET has no body"),
        (
            "window = 7",
            "recipients_per_request = 2",
            "submit.items: is missing; with `recipients_per_request` above 1",
        ),
        (
            "id = \"/data/id\"",
            "to = \"/number\"",
            "submit.to: is for `items`, the list of results",
        ),
    ] {
        has_fault(BY_HTTP, (part, instead), fault);
    }
}

#[test]
fn several_recipients_of_a_request_need_a_result_each() {
    let several = BY_HTTP
        .replace("window = 7", "window = 7\nrecipients_per_request = 100")
        .replace("error = \"/code\"", "items = \"/all\"\nerror = \"/code\"");
    let config = read(&several).expect("no fault");
    let carrier = &config.carriers[0];
    assert_eq!((carrier.window, carrier.in_doubt_limit), (7, 1_050));
    let http = carrier.http().expect("HTTP");
    assert_eq!(http.recipients_per_request, 100);
    assert!(http.submit.answers.items.is_some());
    for (part, instead, fault) in [
        (
            "= 100",
            "= 201",
            "recipients_per_request: must be from 1 to 200",
        ),
        (
            "id = \"/data/id\"",
            "",
            "submit.id: is missing; it points from a result",
        ),
        (
            "\"{token}\"",
            "\"{token}{to}\"",
            "headers: have {to}; with `recipients_per_request` above 1",
        ),
        (
            "window = 7\nrecipients_per_request = 100",
            "window = 1000\nrecipients_per_request = 101",
            "makes 101000 recipients at once",
        ),
    ] {
        has_fault(&several, (part, instead), fault);
    }
    let preset = |name: &str, more: &str| {
        format!(
            "[carriers.agg]\nkind = \"http\"\npreset = \"{name}\"\nbase_url = \"https://a.ng\"\n\
             token = \"t\"\nrecipients_per_request = 100\n{more}\n"
        )
    };
    let config = read(&preset("africastalking", "username = \"u\"")).expect("no fault");
    let http = config.carriers[0].http().expect("HTTP");
    assert!(http.submit.answers.items.is_some() && http.submit.answers.to.is_some());
    for (name, more) in [
        ("termii", ""),
        ("bulksmsnigeria", ""),
        ("twilio", "account_sid = \"a\""),
        ("ogene", ""),
    ] {
        let faults = faults(&preset(name, more));
        let fault = "recipients_per_request: must be 1 for this provider";
        assert!(faults.contains(fault), "{faults}");
    }
}

const BY_POLLING: &str = r#"
[carriers.agg]
kind = "http"
token = "t0ken"
[carriers.agg.submit]
url = "https://api.example.com/send"
json = { to = "{to}", text = "{body}" }
id = "/id"
[carriers.agg.receipts]
state = "/status"
states = { DELIVRD = ["Delivered"] }
poll = { url = "https://api.example.com/state/{id}?key={token}", interval = "90s", period = "2h" }
[gateways.otp]
carriers = ["agg"]
"#;

#[test]
fn a_carrier_that_is_polled_needs_no_secret_and_no_public_url() {
    let config = read(BY_POLLING).expect("no fault");
    let http = config.carriers[0].http().expect("HTTP");
    assert!(http.receipts.is_none() && http.receipt_url.is_none());
    let polled = http.poll.as_ref().expect("polled");
    let times = (polled.times.interval_ms, polled.times.period_ms);
    assert_eq!(times, (90_000, 7_200_000));
    let request = polled.poll.request("m1");
    assert_eq!(request.url, "https://api.example.com/state/m1?key=t0ken");
    assert!(!format!("{config:?}").contains("t0ken"));
    let both = BY_POLLING.replace(
        "state = \"/status\"",
        "secret = \"0123456789abcdef\"\nid = \"/id\"\nto = \"/to\"\nfrom = \"/from\"\nstate = \"/status\"",
    );
    let config = read(&both).expect("no fault");
    let http = config.carriers[0].http().expect("HTTP");
    let hook = http.receipts.as_ref().expect("a hook");
    assert!(hook.receipts.addresses.is_some() && http.poll.is_some());
    let preset = "[carriers.agg]\nkind = \"http\"\npreset = \"ogene\"\nbase_url = \"https://a.ng\"\n\
                  token = \"t\"\npoll = {}\n";
    let config = read(preset).expect("no fault");
    let http = config.carriers[0].http().expect("HTTP");
    let polled = http.poll.as_ref().expect("polled");
    let times = (polled.times.interval_ms, polled.times.period_ms);
    assert_eq!(times, (60_000, 48 * 3_600_000), "the defaults");
}

#[test]
fn a_fault_of_polling_says_what_to_do() {
    for (part, instead, fault) in [
        (
            "state/{id}",
            "state/1",
            "poll.url: a request for a state has {id}",
        ),
        ("state/{id}", "{id}?to={to}", "no other placeholder"),
        ("{id}?key", "{ref}?key", "has the placeholder {ref}"),
        ("\"90s\"", "\"10ms\"", "poll.interval"),
        ("\"2h\"", "\"8d\"", "poll.period"),
        ("state = \"/status\"", "", "poll.state: is missing"),
        (
            "poll = { url = \"https://api.example.com/",
            "poll = { url = \"https://{id}/",
            "poll.url: has a placeholder in its host",
        ),
        (
            "interval = \"90s\"",
            "method = \"GET\", form = { a = \"{id}\" }",
            "GET has no body",
        ),
        (
            "state = \"/status\"",
            "secret = \"0123456789abcdef\"\nto = \"/to\"\nid = \"/id\"\nstate = \"/status\"",
            "`to` and `from` belong together",
        ),
    ] {
        has_fault(BY_POLLING, (part, instead), fault);
    }
    let preset = "[carriers.agg]\nkind = \"http\"\npreset = \"termii\"\nbase_url = \"https://a.ng\"\n\
                  token = \"t\"\npoll = {}\n";
    let message = faults(preset);
    assert!(
        message.contains("carriers.agg.poll: this provider documents no query of a state"),
        "{message}"
    );
}

#[test]
fn no_fault_of_a_request_has_the_token_of_the_carrier() {
    for (part, instead, fault) in [
        (
            "text = \"{body}\"",
            "text = \"{body}\", a = '{\"key\": \"{token}\"}'",
            "has the placeholder {\"key\": \"token\"}",
        ),
        (
            "?key={token}",
            "?key={ {token} }",
            "has the placeholder { token }",
        ),
        ("?key={token}", "?key={token}}", "has a lone brace"),
    ] {
        has_fault(BY_POLLING, (part, instead), fault);
        let message = faults(&BY_POLLING.replacen(part, instead, 1));
        assert!(!message.contains("t0ken"), "{message}");
    }
    let literal = BY_POLLING.replace("?key={token}", "?key={{token}}");
    let config = read(&literal).expect("doubled braces are braces");
    let http = config.carriers[0].http().expect("HTTP");
    let polled = http.poll.as_ref().expect("polled");
    let request = polled.poll.request("m1");
    assert_eq!(request.url, "https://api.example.com/state/m1?key={token}");
}

#[test]
fn a_fault_of_a_carriers_url_or_preset_says_what_to_do() {
    for (part, instead, fault) in [
        (
            "https://api.example.com/",
            "https://{to}/",
            "submit.url: has a placeholder in its host; placeholders may stand in the path or query \
             alone",
        ),
        (
            "https://api.example.com/",
            "https://u:p@api.example.com/",
            "submit.url: has a user name or password; send it in `headers`",
        ),
        (
            "kind = \"http\"",
            "kind = \"http\"\npreset = \"ogene\"\nbase_url = \"https://a.ng\"",
            "carriers.agg.submit: is replaced by `preset`",
        ),
    ] {
        has_fault(BY_HTTP, (part, instead), fault);
    }
    let preset =
        "[carriers.agg]\nkind = \"http\"\npreset = \"twilio\"\nbase_url = \"https://a.ng\"\n";
    let message = faults(preset);
    assert!(
        message.contains("carriers.agg.token: is missing"),
        "{message}"
    );
    let message = faults(&format!("{preset}token = \"t\"\n"));
    assert!(
        message.contains("carriers.agg.account_sid: is missing"),
        "{message}"
    );
    let complete = format!("{preset}token = \"t\"\naccount_sid = \"AC1\"\n");
    let message = faults(&complete.replace("//a.ng", "//u:s3cret@a.ng"));
    assert!(
        message.contains("carriers.agg.base_url: has a user name or password"),
        "{message}"
    );
    assert!(!message.contains("s3cret"), "{message}");
    let message = faults(&format!(
        "{complete}receipt_secret = \"0123456789abcdef\"\n"
    ));
    assert!(
        message.contains("carriers.agg.receipt_secret: needs `http.public_url`"),
        "{message}"
    );
    let config = read(&complete).expect("no fault");
    assert_eq!(config.carriers[0].address(), "https://a.ng/");
}

const PAYMENTS: &str = r#"
[http]
public_url = "https://sms.example.ng"
[payments]
default = "monnify"
bonus = [{ from = "100000.00", percent = "5" }, { from = 10000, percent = 2.5 }]
[payments.paystack]
secret_key = "hush-paystack"
[payments.flutterwave]
secret_key = "hush-flutterwave"
secret_hash = "hush-hash"
version = 4
[payments.monnify]
api_key = "hush-api"
secret_key = "hush-monnify"
contract_code = "4934121686"
"#;

#[test]
fn payment_providers_are_read_and_their_keys_show_nowhere() {
    let config = read(PAYMENTS).expect("no fault");
    let payments = &config.payments;
    let names: Vec<_> = payments.providers.iter().map(|one| one.name).collect();
    assert_eq!(names, ["monnify", "paystack", "flutterwave"]);
    let urls: Vec<_> = payments
        .providers
        .iter()
        .map(|one| one.base_url.as_str())
        .collect();
    let expected = ["monnify.com", "paystack.co", "flutterwave.com"];
    assert_eq!(urls, expected.map(|host| format!("https://api.{host}/")));
    assert_eq!(payments.origin, "https://sms.example.ng");
    let price = payments
        .terms
        .price(Money::from_naira(10_000))
        .expect("a price");
    assert_eq!(price.bonus, Money::from_naira(250));
    assert!(!format!("{config:?}").contains("hush"));
    let variables = variables([("OGENE_PAYMENTS_PAYSTACK_SECRET_KEY", "hush-variable")]);
    let config = Config::read(
        "[http]\npublic_url = \"https://a.ng\"",
        "ogene.toml",
        variables,
    );
    assert_eq!(config.expect("no fault").payments.providers.len(), 1);
}

#[test]
fn a_fault_of_payments_says_what_to_do() {
    for (from, to, fault) in [
        (
            "public_url",
            "#",
            "payments.paystack: needs `http.public_url`",
        ),
        (
            "default = \"monnify\"",
            "",
            "payments.default: is missing: there are several",
        ),
        (
            "contract_code",
            "#",
            "payments.monnify.contract_code: is missing",
        ),
        (
            "\"hush-paystack\"",
            "\"\"",
            "payments.paystack.secret_key: must not be empty",
        ),
        (
            "secret_hash",
            "#",
            "payments.flutterwave.secret_hash: is missing",
        ),
        ("version = 4", "version = 5", "must be from 3 to 4"),
        ("\"5\" }", "\"105\" }", "not a percentage"),
        ("from = 10000,", "from = 100000,", "the same `from`"),
        (
            "[payments.paystack]",
            "[payments.stripe]\n[payments.paystack]",
            "unknown key",
        ),
        (
            "[payments.paystack]",
            "[payments.paystack]\nbase_url = \"http://api.paystack.co\"",
            "payments.paystack.base_url: would send the keys in plain text",
        ),
        (
            "[payments.paystack]",
            "[payments.paystack]\nbase_url = \"api.paystack.co\"",
            "payments.paystack.base_url: is not a URL",
        ),
        (
            "[payments]",
            "[payments]\nminimum = \"0\"",
            "payments.minimum: must be above 0",
        ),
    ] {
        let found = faults(&PAYMENTS.replacen(from, to, 1));
        assert!(found.contains(fault), "{from} {to}: {found}");
    }
    let found = faults("[payments]\ndefault = \"paystack\"");
    assert!(
        found.contains("`payments.paystack` is not configured"),
        "{found}"
    );
}
