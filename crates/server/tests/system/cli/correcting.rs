//! Mistakes of an operator, and the commands that correct them.

use crate::customer::Customer;
use crate::installation::Installation;

#[test]
fn bare_ogene_prints_its_help_and_exits_with_0() {
    let ogene = Installation::new();
    let output = ogene.command(&[]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let help = String::from_utf8_lossy(&output.stdout);
    for part in ["Usage: ogene", "serve", "demo", "--config"] {
        assert!(help.contains(part), "{part} is missing: {help}");
    }
    assert!(output.stderr.is_empty(), "{output:?}");
    let group = ogene.command(&["wallet"]).output().expect("it runs");
    assert_eq!(group.status.code(), Some(2), "half a command is none");
}

#[test]
fn a_wrong_credit_is_taken_back_as_the_refusal_says() {
    let ogene = Installation::new();
    let customer = Customer::new(&ogene, "100.00");
    let of = ["--account", &customer.account];
    let run = |line: &str, more: &[&str]| {
        let words: Vec<&str> = line.split(' ').collect();
        ogene.json(&[&words, &of[..], more].concat())
    };
    let negative = "wallet credit --amount -60.00 --reference oops";
    let words: Vec<&str> = negative.split(' ').chain(of).collect();
    let (code, message) = ogene.failure(&words);
    assert_eq!(code, Some(2));
    assert!(message.contains("ogene wallet debit"), "{message}");

    let why = ["--reason", "credited twice"];
    let debit = "wallet debit --amount 60.00 --reference wrong-1";
    let taken = run(debit, &why);
    assert_eq!(
        (&taken["debited"], &taken["balance"]),
        (&true.into(), &40.0.into()),
        "{taken}"
    );
    let again = run(debit, &why);
    assert_eq!(
        (&again["debited"], &again["balance"]),
        (&false.into(), &40.0.into()),
        "{again}"
    );

    let more: Vec<&str> = "wallet debit --amount 40.01 --reference wrong-2 --reason more"
        .split(' ')
        .chain(of)
        .collect();
    let (code, message) = ogene.failure(&more);
    assert_eq!(code, Some(1));
    assert!(message.contains("sms_wallet holds 40.00 NGN"), "{message}");

    let statement = run("wallet statement", &[]).to_string();
    assert!(statement.contains("-60.0"), "{statement}");
    let entry = &ogene.rows(&["audit", "--limit", "1"])[0];
    assert_eq!(entry["what"], "wallet.debit");
    assert_eq!(entry["after"]["reason"], "credited twice", "{entry}");
    assert_eq!(ogene.json(&["verify"])["ok"], true);
}
