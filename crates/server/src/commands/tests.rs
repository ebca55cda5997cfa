use super::*;
use clap::CommandFactory;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(line.split_whitespace())
}

#[test]
fn every_command_has_help_with_an_example() {
    fn check(command: &clap::Command) {
        assert!(command.get_about().is_some(), "{}", command.get_name());
        for argument in command.get_arguments() {
            assert!(
                argument.get_help().is_some(),
                "{} {}",
                command.get_name(),
                argument.get_id()
            );
        }
        let help = command
            .get_after_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        let has_example = command.has_subcommands() || help.contains("Example");
        assert!(has_example, "{} shows no example", command.get_name());
        command.get_subcommands().for_each(check);
    }
    Cli::command().debug_assert();
    check(&Cli::command());
}

#[test]
fn every_command_of_the_design_is_understood() {
    for line in [
        "ogene serve",
        "ogene demo",
        "ogene demo --data-dir d --listen 127.0.0.1:0",
        "ogene config default",
        "ogene config check",
        "ogene config reload",
        "ogene migrate",
        "ogene migrate --citus",
        "ogene import-sqlite --from data",
        "ogene backup ogene.db",
        "ogene restore ogene.db",
        "ogene account create --name Ada --email ada@example.ng",
        "ogene account list",
        "ogene account list --limit 1000 --cursor AQY",
        "ogene account show --account 7",
        "ogene account set-status --account 7 --status restricted",
        "ogene account limit --account 7 --per-day 5000.00",
        "ogene account limit --account 7 --per-day none",
        "ogene account set-verification --account 7 --level contact_verified",
        "ogene token create --account 7 --name shop",
        "ogene token create --account 7 --name shop --expires 90d --allow 203.0.113.0/24 --allow ::1",
        "ogene token create --account 7 --name shop --expires-at 2027-01-31",
        "ogene token list --account 7",
        "ogene token revoke --id 3f2a",
        "ogene sender-id register --account 7 --sender-id Ada --purpose News --international",
        "ogene sender-id approve --account 7 --sender-id Ada",
        "ogene sender-id reject --account 7 --sender-id Ada --reason Unclear",
        "ogene sender-id suspend --account 7 --sender-id Ada",
        "ogene sender-id list",
        "ogene wallet credit --account 7 --amount 1000.00 --reference R",
        "ogene wallet credit --account 7 --amount 5 --reference R --component promo_bonus",
        "ogene wallet debit --account 7 --amount 5 --reference R --reason wrong --component promo_bonus",
        "ogene wallet statement --account 7 --limit 5",
        "ogene top-up list --mismatches --limit 5",
        "ogene top-up accept --id 019a5c1e-9f00-7abc-8000-000000000001 --account 7 --amount 5",
        "ogene top-up reject --id 019a5c1e-9f00-7abc-8000-000000000001",
        "ogene callback dead",
        "ogene callback dead --limit 5",
        "ogene callback dead --account 7 --limit 5 --cursor AQY",
        "ogene callback attempts --account 7",
        "ogene callback attempts --account 7 --message 019a5c1e-9f00-7abc-8000-000000000001 --limit 5",
        "ogene callback secret create --account 7",
        "ogene callback secret rotate --account 7",
        "ogene callback secret rotate --account 7 --overlap 30m",
        "ogene callback secret list",
        "ogene callback secret list --account 7",
        "ogene callback secret revoke --account 7",
        "ogene callback secret revoke --account 7 --id sec_3f2a",
        "ogene callback replay --all",
        "ogene callback replay --account 7 --origin https://shop.example.ng:443",
        "ogene callback replay --message 019a5c1e-9f00-7abc-8000-000000000001",
        "ogene smsc --mix delivrd=9,undeliv=1 --rule 02=expired --fault 5=throttle --quirk duplicate,shuffle",
        "ogene smsc --account ogene:secret --receipt-ids numeric --receipt-form tlv --response-delay 1ms..2ms",
        "ogene content add casino",
        "ogene content remove casino",
        "ogene content list",
        "ogene content test casino",
        "ogene content test casino --unicode",
        "ogene velocity list",
        "ogene velocity release --account 7 --block 2348031234",
        "ogene velocity release --account 7 --block 2348031234***",
        "ogene audit",
        "ogene audit --account 7 --limit 5",
        "ogene verify",
    ] {
        if let Err(error) = parse(line) {
            panic!("{line}: {error}");
        }
    }
}

#[test]
fn every_command_on_users_is_understood() {
    for line in [
        "ogene user create --email ada@example.ng --name Ada --operator",
        "ogene user create --email ada@example.ng --name Ada --account 7 --role owner",
        "ogene user list --limit 5",
        "ogene user show --email ada@example.ng",
        "ogene user invite --email ada@example.ng --account 7 --role viewer",
        "ogene user invite --email ada@example.ng --operator",
        "ogene user set-role --email ada@example.ng --account 7 --role developer",
        "ogene user remove --email ada@example.ng --account 7",
        "ogene user remove --email ada@example.ng --operator",
        "ogene user reset --email ada@example.ng",
        "ogene user remove-second-factor --email ada@example.ng",
        "ogene user remove-passkeys --email ada@example.ng",
        "ogene user disable --email ada@example.ng",
        "ogene user enable --email ada@example.ng",
    ] {
        if let Err(error) = parse(line) {
            panic!("{line}: {error}");
        }
    }
}

#[test]
fn every_command_on_sub_accounts_is_understood() {
    for line in [
        "ogene sub-account list --account 7 --limit 5",
        "ogene sub-account show --sub-account 8",
        "ogene sub-account create --account 7 --name Ada --email ada@example.ng",
        "ogene sub-account change --sub-account 8 --status disabled --daily-limit none",
        "ogene sub-account change --sub-account 8 --price otp=7.50/14 --price direct-refund=none",
        "ogene sub-account transfer --sub-account 8 --amount 5 --direction from_sub --reference R",
    ] {
        if let Err(error) = parse(line) {
            panic!("{line}: {error}");
        }
    }
    for line in [
        "ogene sub-account list",
        "ogene sub-account change --sub-account 8 --status restricted",
        "ogene sub-account change --sub-account 8 --price otp",
        "ogene sub-account transfer --sub-account 8 --amount 0 --direction to_sub --reference R",
        "ogene sub-account transfer --sub-account 8 --amount 5 --direction up --reference R",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
}

#[test]
fn every_command_on_carriers_is_understood() {
    for line in [
        "ogene carrier list",
        "ogene smsc --inbound 2348031234567:32811:PROMO --inbound-form udh --inbound-order shuffled --inbound-delay 1s..2s --inbound-again",
        "ogene carrier pause mtn",
        "ogene carrier drain mtn",
        "ogene carrier resume mtn",
        "ogene carrier throttle mtn --per-second 20",
        "ogene carrier throttle mtn --per-second none",
        "ogene carrier test mtn --to 2348031234567",
        "ogene carrier test mtn --to +2348031234567 --from 32811 --text Hello --wait 2m",
    ] {
        if let Err(error) = parse(line) {
            panic!("{line}: {error}");
        }
    }
}

#[test]
fn every_command_about_messages_is_understood() {
    for line in [
        "ogene inbound route add --number 32811 --account 7",
        "ogene inbound route add --number 32811 --keyword PROMO --account 7 --url https://shop.example.ng/in",
        "ogene inbound route list --account 7",
        "ogene inbound route remove --id rt_1",
        "ogene inbound list --account 7 --number 32811 --keyword promo --sender 2348031234567 --since 2027-01-31",
        "ogene opt-out add --account 7 --recipient 2348031234567",
        "ogene opt-out add --account 7 --recipient 2348031234567 --sender AdaFoods --reason complaint",
        "ogene opt-out list --account 7 --limit 5",
        "ogene opt-out remove --account 7 --recipient 2348031234567",
        "ogene dnd import dnd.csv.gz",
        "ogene dnd add 2348031234567",
        "ogene dnd remove 2348031234567",
        "ogene dnd count",
        "ogene message list",
        "ogene message list --account 7 --sandbox --recipient 2348031234567 --sender Ada --gateway otp --limit 5",
        "ogene message list --state sending --delivery-status delivrd --customer-reference R --since 2027-01-31",
        "ogene message show --message-id 019a5c1e-9f00-7abc-8000-000000000001",
        "ogene message show --message-id 019a5c1e-9f00-7abc-8000-000000000001 --recipient 2348031234567",
        "ogene message show --message-id 019a5c1e-9f00-7abc-8000-000000000001 --recipients 0",
        "ogene message cancel --message-id 019a5c1e-9f00-7abc-8000-000000000001",
        "ogene message pause --message-id 019a5c1e-9f00-7abc-8000-000000000001",
        "ogene message resume --message-id 019a5c1e-9f00-7abc-8000-000000000001",
        "ogene message reschedule --message-id 019a5c1e-9f00-7abc-8000-000000000001 --send-at 2027-01-31T18:00:00Z",
        "ogene export recipients --account 7 --until 2027-01-31 --output o.csv",
        "ogene export wallet --account 7 --kind refund --message-id 019a5c1e-9f00-7abc-8000-000000000001",
        "ogene usage --account 7 --by network",
        "ogene revenue",
        "ogene revenue --months 24",
    ] {
        if let Err(error) = parse(line) {
            panic!("{line}: {error}");
        }
    }
}

#[test]
fn file_and_json_stand_before_or_after_the_command() {
    for line in [
        "ogene --config o.toml --json account list",
        "ogene account --config o.toml list --json",
        "ogene account list --json --config o.toml",
    ] {
        let global = parse(line).expect("understood").global;
        assert!(global.json, "{line}");
        assert_eq!(global.config, Some(PathBuf::from("o.toml")), "{line}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for line in [
        "ogene wallet credit --account 7 --amount -5 --reference R",
        "ogene wallet credit --account 7 --amount 0.00 --reference R",
        "ogene wallet debit --account 7 --amount 5 --reference R",
        "ogene wallet debit --account 7 --amount 0.00 --reference R --reason wrong",
        "ogene wallet credit --account 7 --amount 1e3 --reference R",
        "ogene wallet credit --account ada --amount 5 --reference R",
        "ogene wallet credit --account 7 --amount 5 --reference R --component piggy_bank",
        "ogene account set-status --account 7 --status gone",
        "ogene account limit --account 7",
        "ogene account limit --account 7 --per-day 0",
        "ogene token create --account 7 --name x --expires soon",
        "ogene token create --account 7 --name x --expires 999999d",
        "ogene token create --account 7 --name x --expires 1d --expires-at 2027-01-31",
        "ogene token create --account 7 --name x --expires-at 31.01.2027",
        "ogene token create --account 7 --name x --allow example.ng",
        "ogene token create --account 7 --name x --allow 203.0.113.9/24",
        "ogene user create --email ada@example.ng --name Ada",
        "ogene user create --email ada@example.ng --name Ada --account 7",
        "ogene user create --email ada@example.ng --name Ada --account 7 --role operator",
        "ogene user invite --email ada@example.ng --account 7 --role owner --operator",
        "ogene user remove --email ada@example.ng",
        "ogene sender-id reject --account 7 --sender-id Ada",
        "ogene smsc --mix delivrd",
        "ogene smsc --inbound 32811:PROMO",
        "ogene callback replay",
        "ogene carrier pause",
        "ogene carrier test mtn",
        "ogene carrier test mtn --to Ada",
        "ogene carrier test mtn --to 2348031234567 --wait 2d",
        "ogene carrier throttle mtn",
        "ogene carrier throttle mtn --per-second 0",
        "ogene velocity release --account 7",
        "ogene velocity release --account 7 --block 2348031234567",
        "ogene callback replay --all --account 7",
        "ogene callback attempts",
        "ogene callback secret create",
        "ogene callback secret revoke",
        "ogene callback secret rotate --account 7 --overlap 5",
        "ogene callback replay --message 7",
        "ogene account list --limit 0",
        "ogene account list --limit 1001",
        "ogene message show --message-id 7",
        "ogene message cancel --message-id 7",
        "ogene message pause",
        "ogene message reschedule --message-id 019a5c1e-9f00-7abc-8000-000000000001",
        "ogene message list --state gone",
        "ogene export wallet",
        "ogene usage --by moon",
        "ogene revenue --months 0",
        "ogene revenue --months 25",
        "ogene send",
        "ogene",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
}

/// The relation of a command to the audit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Audited {
    /// The command changes something. The verb of the entry is the command, with dots between its
    /// words.
    Entry,
    /// The command changes nothing that an operator decides.
    Nothing,
    /// The command moves or copies everything, with the audit in it.
    Whole,
}

/// Every command. A new one is added here with its relation to the audit.
const AUDITED: [(&str, Audited); 95] = [
    ("serve", Audited::Nothing),
    ("demo", Audited::Nothing),
    ("config.default", Audited::Nothing),
    ("config.check", Audited::Nothing),
    ("config.reload", Audited::Entry),
    ("migrate", Audited::Nothing),
    ("import-sqlite", Audited::Whole),
    ("backup", Audited::Whole),
    ("restore", Audited::Whole),
    ("account.create", Audited::Entry),
    ("account.list", Audited::Nothing),
    ("account.show", Audited::Nothing),
    ("account.set-status", Audited::Entry),
    ("account.limit", Audited::Entry),
    ("account.set-verification", Audited::Entry),
    ("token.create", Audited::Entry),
    ("token.list", Audited::Nothing),
    ("token.revoke", Audited::Entry),
    ("smpp-user.create", Audited::Entry),
    ("smpp-user.list", Audited::Nothing),
    ("smpp-user.show", Audited::Nothing),
    ("smpp-user.revoke", Audited::Entry),
    ("smpp-user.limits", Audited::Entry),
    ("sub-account.list", Audited::Nothing),
    ("sub-account.show", Audited::Nothing),
    ("sub-account.create", Audited::Entry),
    ("sub-account.change", Audited::Entry),
    ("sub-account.transfer", Audited::Entry),
    ("user.create", Audited::Entry),
    ("user.list", Audited::Nothing),
    ("user.show", Audited::Nothing),
    ("user.invite", Audited::Entry),
    ("user.set-role", Audited::Entry),
    ("user.remove", Audited::Entry),
    ("user.reset", Audited::Entry),
    ("user.remove-second-factor", Audited::Entry),
    ("user.remove-passkeys", Audited::Entry),
    ("user.disable", Audited::Entry),
    ("user.enable", Audited::Entry),
    ("sender-id.register", Audited::Entry),
    ("sender-id.approve", Audited::Entry),
    ("sender-id.reject", Audited::Entry),
    ("sender-id.suspend", Audited::Entry),
    ("sender-id.list", Audited::Nothing),
    ("wallet.credit", Audited::Entry),
    ("wallet.debit", Audited::Entry),
    ("wallet.statement", Audited::Nothing),
    ("top-up.list", Audited::Nothing),
    ("top-up.accept", Audited::Entry),
    ("top-up.reject", Audited::Entry),
    ("message.list", Audited::Nothing),
    ("message.show", Audited::Nothing),
    ("message.cancel", Audited::Entry),
    ("message.pause", Audited::Entry),
    ("message.resume", Audited::Entry),
    ("message.reschedule", Audited::Entry),
    ("inbound.route.add", Audited::Entry),
    ("inbound.route.list", Audited::Nothing),
    ("inbound.route.remove", Audited::Entry),
    ("inbound.list", Audited::Nothing),
    ("opt-out.add", Audited::Entry),
    ("opt-out.list", Audited::Nothing),
    ("opt-out.remove", Audited::Entry),
    ("dnd.import", Audited::Entry),
    ("dnd.add", Audited::Entry),
    ("dnd.remove", Audited::Entry),
    ("dnd.count", Audited::Nothing),
    ("export.recipients", Audited::Nothing),
    ("export.wallet", Audited::Nothing),
    ("usage", Audited::Nothing),
    ("revenue", Audited::Nothing),
    ("callback.dead", Audited::Nothing),
    ("callback.replay", Audited::Entry),
    ("callback.attempts", Audited::Nothing),
    ("callback.secret.create", Audited::Entry),
    ("callback.secret.rotate", Audited::Entry),
    ("callback.secret.list", Audited::Nothing),
    ("callback.secret.revoke", Audited::Entry),
    ("carrier.list", Audited::Nothing),
    ("carrier.pause", Audited::Entry),
    ("carrier.drain", Audited::Entry),
    ("carrier.resume", Audited::Entry),
    ("carrier.throttle", Audited::Entry),
    ("carrier.test", Audited::Entry),
    ("content.add", Audited::Entry),
    ("content.remove", Audited::Entry),
    ("content.list", Audited::Nothing),
    ("content.test", Audited::Nothing),
    ("velocity.list", Audited::Nothing),
    ("velocity.release", Audited::Entry),
    ("audit", Audited::Nothing),
    ("smsc", Audited::Nothing),
    ("verify", Audited::Nothing),
    ("completions", Audited::Nothing),
    ("manual", Audited::Nothing),
];

/// Returns the commands that do something, as words with dots between them.
fn leaves(command: &clap::Command, before: &str) -> Vec<String> {
    let below = command.get_subcommands().flat_map(|command| {
        let name = format!("{before}{}", command.get_name());
        if command.has_subcommands() {
            leaves(command, &format!("{name}."))
        } else {
            vec![name]
        }
    });
    below.collect()
}

#[test]
fn every_command_states_what_the_audit_tells_of_it() {
    let commands = leaves(&Cli::command(), "");
    assert_eq!(commands, AUDITED.map(|(command, _)| command));
}

/// Returns the text of all sources below a folder.
fn sources_below(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("a folder");
    let texts = entries.map(|entry| {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources_below(&path)
        } else {
            fs::read_to_string(path).expect("a source")
        }
    });
    texts.collect()
}

#[test]
fn every_command_that_changes_something_has_an_audit_entry() {
    let store = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/src");
    let sources = sources_below(&store);
    for (command, _) in AUDITED
        .iter()
        .filter(|(_, policy)| *policy == Audited::Entry)
    {
        assert!(sources.contains(&format!("\"{command}\"")), "{command}");
    }
}
