//! The operator of a number by its prefix. Numbers are ported, so this is only a guess.

use crate::number::recipient::Recipient;

/// The operators of Nigeria and their prefixes. Unused prefixes are left out: 0709, 0819, and 0702
/// but for the listed ones.
const NIGERIA: [(&str, &[&str]); 7] = [
    (
        "mtn",
        &[
            "0703", "0704", "0706", "0707", "0803", "0806", "0810", "0813", "0814", "0816", "0903",
            "0906", "0910", "0913", "0916", "07025", "07026",
        ],
    ),
    (
        "airtel",
        &[
            "0701", "0708", "0802", "0808", "0812", "0901", "0902", "0904", "0907", "0911", "0912",
        ],
    ),
    (
        "glo",
        &["0705", "0805", "0807", "0811", "0815", "0905", "0915"],
    ),
    ("t2", &["0809", "0817", "0818", "0908", "0909"]),
    ("ntel", &["0804"]),
    ("smile", &["07020"]),
    ("mafab", &["0801"]),
];

/// The name of "any other network" in the configuration.
const RESERVED: &str = "default";
/// Maximum length of a prefix in national digits. The table has an entry for each combination.
const MAX_PREFIX_DIGITS: usize = 4;
/// Number of entries of the table.
const ENTRIES: usize = 10_000;
/// The entry of a prefix without an operator.
const NO_NETWORK: u8 = u8::MAX;

/// The prefix table: the network of each possible begin of a national number.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NumberPlan {
    networks: Vec<String>,
    by_beginning: Vec<u8>,
}

impl NumberPlan {
    /// Builds the plan from networks and their prefixes in local form (`0703`, `07025`). A longer
    /// prefix takes precedence.
    ///
    /// # Errors
    /// Returns every fault of the table.
    pub fn new(table: &[(String, Vec<String>)]) -> Result<Self, Vec<String>> {
        let (mut prefixes, faults) = read(table);
        if !faults.is_empty() {
            return Err(faults);
        }
        prefixes.sort_unstable_by_key(|prefix| prefix.length);
        let mut by_beginning = vec![NO_NETWORK; ENTRIES];
        for prefix in &prefixes {
            let width = 10_usize.pow(prefix.missing_digits());
            let first = prefix.national * width;
            by_beginning[first..first + width].fill(prefix.network);
        }
        Ok(Self {
            networks: table.iter().map(|(network, _)| network.clone()).collect(),
            by_beginning,
        })
    }

    /// Returns the plan of Nigeria in 2026.
    pub fn nigeria() -> Self {
        let table = NIGERIA.map(|(network, prefixes)| {
            let prefixes = prefixes.iter().map(|&prefix| prefix.to_owned()).collect();
            (network.to_owned(), prefixes)
        });
        // The table has no fault, which a test proves. An empty plan would only lose guesses.
        Self::new(&table).unwrap_or(Self {
            networks: Vec::new(),
            by_beginning: vec![NO_NETWORK; ENTRIES],
        })
    }

    /// Returns the names of the networks in order.
    pub fn networks(&self) -> &[String] {
        &self.networks
    }

    /// Returns the network of a Nigerian number, as an index into [`networks`](Self::networks).
    pub fn network_of(&self, recipient: Recipient) -> Option<u8> {
        let beginning = usize::try_from(recipient.national()? / 1_000_000).ok()?;
        let network = *self.by_beginning.get(beginning)?;
        (network != NO_NETWORK).then_some(network)
    }
}

/// A prefix without its trunk zero.
struct Prefix {
    national: usize,
    length: usize,
    network: u8,
}

impl Prefix {
    fn missing_digits(&self) -> u32 {
        u32::try_from(MAX_PREFIX_DIGITS - self.length).unwrap_or(0)
    }

    fn read(text: &str, network: u8) -> Option<Self> {
        let digits = text.strip_prefix('0')?;
        let is_prefix = (2..=MAX_PREFIX_DIGITS).contains(&digits.len())
            && digits.starts_with(['7', '8', '9'])
            && digits.bytes().all(|byte| byte.is_ascii_digit());
        let national = digits.parse().ok().filter(|_| is_prefix)?;
        Some(Self {
            national,
            length: digits.len(),
            network,
        })
    }
}

/// Parses the table. Returns the prefixes and every fault.
fn read(table: &[(String, Vec<String>)]) -> (Vec<Prefix>, Vec<String>) {
    let mut prefixes: Vec<Prefix> = Vec::new();
    let mut faults = Vec::new();
    if table.len() > usize::from(NO_NETWORK) {
        faults.push(format!("more than {NO_NETWORK} networks"));
    }
    for (index, (name, spelled)) in (0..NO_NETWORK).zip(table) {
        if name.trim().is_empty() || name == RESERVED {
            faults.push(format!("{name:?} cannot be the name of a network"));
        }
        if table[..usize::from(index)]
            .iter()
            .any(|(earlier, _)| earlier == name)
        {
            faults.push(format!("network {name} is named twice"));
        }
        for text in spelled {
            let Some(prefix) = Prefix::read(text, index) else {
                faults.push(format!(
                    "network {name}: prefix {text:?} is not a local form such as 0703 or 07025"
                ));
                continue;
            };
            let is_same = |p: &Prefix| (p.national, p.length) == (prefix.national, prefix.length);
            if let Some(other) = prefixes.iter().find(|&p| is_same(p)) {
                let other = &table[usize::from(other.network)].0;
                faults.push(format!(
                    "network {name}: prefix {text} is already that of {other}"
                ));
            }
            prefixes.push(prefix);
        }
    }
    (prefixes, faults)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::parse_national;

    fn table(rows: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
        rows.iter()
            .map(|&(name, prefixes)| {
                let prefixes = prefixes.iter().map(|&prefix| prefix.to_owned()).collect();
                (name.to_owned(), prefixes)
            })
            .collect()
    }

    fn network<'a>(plan: &'a NumberPlan, number: &str) -> Option<&'a str> {
        let index = plan.network_of(parse_national(number).unwrap())?;
        Some(&plan.networks()[usize::from(index)])
    }

    #[test]
    fn the_plan_of_nigeria_has_no_fault() {
        assert_eq!(NumberPlan::new(&table(&NIGERIA)), Ok(NumberPlan::nigeria()));
        assert_eq!(
            NumberPlan::nigeria().networks(),
            ["mtn", "airtel", "glo", "t2", "ntel", "smile", "mafab"]
        );
    }

    #[test]
    fn a_prefix_names_the_operator() {
        let plan = NumberPlan::nigeria();
        let expected = [
            ("08031234567", Some("mtn")),
            ("09101234567", Some("mtn")),
            ("07025123456", Some("mtn")),
            ("07020123456", Some("smile")),
            ("07027123456", None),
            ("08021234567", Some("airtel")),
            ("09121234567", Some("airtel")),
            ("08051234567", Some("glo")),
            ("08091234567", Some("t2")),
            ("08041234567", Some("ntel")),
            ("07091234567", None),
            ("07281234567", None),
        ];
        for (number, name) in expected {
            assert_eq!(network(&plan, number), name, "{number}");
        }
        assert_eq!(
            plan.network_of(Recipient::from_digits(447_911_123_456)),
            None
        );
    }

    #[test]
    fn the_longest_prefix_takes_precedence_in_any_order() {
        let plan = NumberPlan::new(&table(&[("b", &["07025"]), ("a", &["0702", "081"])])).unwrap();
        assert_eq!(network(&plan, "07025123456"), Some("b"));
        assert_eq!(network(&plan, "07026123456"), Some("a"));
        assert_eq!(network(&plan, "08161234567"), Some("a"));
    }

    #[test]
    fn every_fault_of_a_table_is_named() {
        let rows: &[(&str, &[&str])] = &[
            ("mtn", &["0703", "703", "070251", "0x03"]),
            ("glo", &["0703", "0103"]),
            ("mtn", &[]),
            (" ", &[]),
            ("default", &["0805"]),
        ];
        insta::assert_snapshot!(NumberPlan::new(&table(rows)).unwrap_err().join("\n"), @r#"
        network mtn: prefix "703" is not a local form such as 0703 or 07025
        network mtn: prefix "070251" is not a local form such as 0703 or 07025
        network mtn: prefix "0x03" is not a local form such as 0703 or 07025
        network glo: prefix 0703 is already that of mtn
        network glo: prefix "0103" is not a local form such as 0703 or 07025
        network mtn is named twice
        " " cannot be the name of a network
        "default" cannot be the name of a network
        "#);
    }
}
