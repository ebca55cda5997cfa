//! Compares numbers with the newest release of `phonenumbers`, the Python port of libphonenumber.
//! `tests/numbers/install` installs it into `target/numbers`, or `OGENE_NUMBERS` names its
//! directory.

#[cfg(test)]
mod tests {
    use domain::{NumberPlan, Recipient, parse_national};
    use std::collections::BTreeMap;
    use std::env;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    /// The operators whose prefixes are compared, by their names in phonenumbers and in the number
    /// plan. Sources disagree about others.
    const OPERATORS: [(&str, &str); 4] = [
        ("MTN", "mtn"),
        ("Airtel", "airtel"),
        ("Glo", "glo"),
        ("9mobile", "t2"),
    ];

    /// Returns the version of phonenumbers, and its mobile prefixes with their operators.
    fn newest() -> (String, BTreeMap<String, String>) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let installed = env::var_os("OGENE_NUMBERS").map(PathBuf::from);
        let output = Command::new("python3")
            .arg(root.join("tests/numbers/beginnings.py"))
            .env(
                "PYTHONPATH",
                installed.unwrap_or(root.join("target/numbers")),
            )
            .output()
            .expect("python3 runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "tests/numbers/install has not run: {errors}"
        );
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let (version, lines) = text.split_once('\n').expect("lines");
        let beginnings = lines.lines().map(|line| {
            let (beginning, operator) = line.split_once(' ').expect("two words");
            (beginning.to_owned(), operator.to_owned())
        });
        (version.to_owned(), beginnings.collect())
    }

    #[test]
    fn mobile_numbers_are_those_of_the_newest_phonenumbers() {
        testkit::needs!(Phonenumbers);
        let (version, theirs) = newest();
        let plan = NumberPlan::nigeria();
        let mut differences = Vec::new();
        for beginning in (0..10_000).map(|number| format!("{number:04}")) {
            let numbers = ["000000", "123456", "499999", "500000", "999999"]
                .map(|rest| parse_national(&format!("0{beginning}{rest}")));
            let ours = numbers.iter().any(Option::is_some);
            assert_eq!(ours, numbers.iter().all(Option::is_some), "{beginning}");
            let operator = theirs.get(&beginning);
            if operator.is_some() != ours {
                differences.push(format!(
                    "0{beginning}: mobile there {}, here {ours}",
                    operator.is_some()
                ));
            }
            let network = numbers[0].and_then(|number: Recipient| plan.network_of(number));
            let network = network.map(|index| plan.networks()[usize::from(index)].as_str());
            let expected = OPERATORS
                .iter()
                .find(|(name, _)| operator.is_some_and(|one| one == name));
            if let Some(&(_, expected)) = expected
                && network != Some(expected)
            {
                differences.push(format!("0{beginning}: {expected} there, {network:?} here"));
            }
        }
        let in_part = theirs.keys().filter(|beginning| beginning.ends_with('?'));
        differences.extend(in_part.map(|beginning| format!("0{beginning}: in part only")));
        assert!(
            differences.is_empty(),
            "phonenumbers {version} differs; compare with the plan of the regulator, then change \
             domain/src/number.rs or domain/src/network.rs:\n{}",
            differences.join("\n")
        );
    }
}
