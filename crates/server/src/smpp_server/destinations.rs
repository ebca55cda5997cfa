//! The destinations of a `submit_multi`.

use super::refusals::LEFT_OUT;
use super::submit::address;
use domain::{LIST_SEPARATORS, Recipient, parse_international, parse_national, parse_sandbox};
use smpp::CommandStatus;
use smpp::codec::{AddressFields, Destination, Destinations, FailedDestination};

/// Maximum number of octets of an address in an answer.
const MAX_ADDRESS_OCTETS: usize = 20;

/// The destinations of a `submit_multi`.
pub(super) struct List(Vec<One>);

/// One destination.
struct One {
    ton: u8,
    npi: u8,
    digits: Vec<u8>,
    /// The number, or the status of a destination that is none.
    number: Result<String, CommandStatus>,
}

impl List {
    pub(super) fn read(destinations: Destinations<'_>) -> Self {
        Self(destinations.into_iter().map(One::read).collect())
    }

    /// Returns the numbers, separated by commas.
    pub(super) fn numbers(&self) -> String {
        let numbers = self.0.iter().filter_map(|one| one.number.as_deref().ok());
        numbers.collect::<Vec<_>>().join(",")
    }

    /// Returns the destinations that are not among the recipients of the message. If the recipients
    /// are unknown, every number counts as one.
    pub(super) fn failed(
        &self,
        recipients: Option<&[Recipient]>,
        takes_vendor_statuses: bool,
    ) -> Vec<FailedDestination<'_>> {
        let left_out = if takes_vendor_statuses {
            LEFT_OUT
        } else {
            CommandStatus::RSUBMITFAIL
        };
        let failed = self.0.iter().filter_map(|one| {
            let status = one.fault(recipients, left_out)?;
            Some(FailedDestination {
                address: AddressFields {
                    ton: one.ton,
                    npi: one.npi,
                    digits: &one.digits,
                },
                status,
            })
        });
        failed.collect()
    }
}

impl One {
    fn read(destination: Destination<'_>) -> Self {
        let (ton, npi, digits, number) = match destination {
            Destination::Address(fields) => {
                let number = address(fields.digits).filter(|text| !text.contains(LIST_SEPARATORS));
                let number = number.ok_or(CommandStatus::RINVDSTADR);
                (fields.ton, fields.npi, fields.digits, number)
            }
            Destination::List(name) => (0, 0, name, Err(CommandStatus::RINVDLNAME)),
        };
        let length = digits.len().min(MAX_ADDRESS_OCTETS);
        Self {
            ton,
            npi,
            digits: digits[..length].to_vec(),
            number,
        }
    }

    /// Returns the reason why the destination is no recipient, or `None` if it is one.
    fn fault(
        &self,
        recipients: Option<&[Recipient]>,
        left_out: CommandStatus,
    ) -> Option<CommandStatus> {
        let number = match &self.number {
            Ok(number) => number,
            Err(status) => return Some(*status),
        };
        let readings =
            [parse_national, parse_international, parse_sandbox].map(|read| read(number));
        let is_recipient = |one: &Recipient| recipients.is_none_or(|all| all.contains(one));
        if readings.iter().flatten().any(is_recipient) {
            return None;
        }
        let [national, ..] = readings;
        Some(national.map_or(CommandStatus::RINVDSTADR, |_| left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_fails_that_is_no_recipient() {
        let mut octets = Vec::new();
        let numbers: [&[u8]; 5] = [
            b"2348031234567",
            b"08051234567",
            b"12",
            b"0803123456,1",
            b"123456789012345678901",
        ];
        for digits in numbers {
            let address = AddressFields {
                ton: 1,
                npi: 1,
                digits,
            };
            Destinations::push(&mut octets, Destination::Address(address));
        }
        Destinations::push(&mut octets, Destination::List(b"friends"));
        let list = List::read(Destinations::of(6, &octets));
        assert_eq!(list.numbers(), "2348031234567,08051234567,12");
        let recipients = [parse_national("08031234567").unwrap()];
        for (takes_vendor_statuses, left_out) in [(false, 0x45), (true, 0x402)] {
            let failed = list.failed(Some(&recipients), takes_vendor_statuses);
            let failed = failed.iter();
            let failed = failed.map(|one| (one.address.digits.len(), one.status.0));
            let failed: Vec<(usize, u32)> = failed.collect();
            let expected = [(11, left_out), (2, 0x0B), (12, 0x0B), (20, 0x0B), (7, 0x34)];
            assert_eq!(failed, expected);
        }
        let failed = list.failed(None, false);
        let failed: Vec<u32> = failed.iter().map(|one| one.status.0).collect();
        assert_eq!(
            failed,
            [0x0B, 0x0B, 0x0B, 0x34],
            "those that are no numbers"
        );
    }
}
