//! `command_status`: the names of the codes, and the reaction of a sender to them
//! (SMPP 3.4, section 5.1.3; the classes follow what carriers mean by them).

use std::fmt;

/// The third field of a header: zero in requests, the outcome in responses. Any value may come in.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct CommandStatus(pub u32);

/// The reaction that a status asks of the sender.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum StatusClass {
    /// Accepted.
    Ok,
    /// The link is too fast: slow it down. Nothing is wrong with the message.
    Throttled,
    /// The peer's queue, often the recipient's, is full: this message waits.
    QueueFull,
    /// Try a few times more, then another carrier.
    Temporary,
    /// The code is too vague (vendor codes too): one or two tries, then another carrier.
    Ambiguous,
    /// The recipient is refused for good.
    RecipientRejected,
    /// The sender or the service is refused here: another carrier may take it.
    SourceRejected,
    /// We sent something wrong: a fault in the configuration or in the program.
    OurFault,
    /// The bind is in the wrong state: bind again. The message was not sent.
    BindState,
    /// The bind was refused: wrong credentials, or too many binds.
    BindRefused,
}

/// Declares codes, their names in the protocol and their class together.
macro_rules! statuses {
    ($($name:ident = $code:literal, $class:ident;)*) => {
        impl CommandStatus {
            $(
                #[doc = concat!("`ESME_", stringify!($name), "`")]
                pub const $name: Self = Self($code);
            )*

            /// The name in the protocol (`ESME_RTHROTTLED`); `vendor` from 0x400 to 0x4FF, `reserved` otherwise.
            pub const fn name(self) -> &'static str {
                match self.0 {
                    $($code => concat!("ESME_", stringify!($name)),)*
                    0x400..=0x4FF => "vendor",
                    _ => "reserved",
                }
            }

            /// Returns whether the code is one of those that the protocol gives a name.
            pub const fn is_known(self) -> bool {
                matches!(self.0, $($code)|*)
            }

            /// Returns the reaction of the sender.
            pub const fn class(self) -> StatusClass {
                match self.0 {
                    $($code => StatusClass::$class,)*
                    _ => StatusClass::Ambiguous,
                }
            }
        }
    };
}

statuses! {
    ROK = 0x00, Ok;
    RINVMSGLEN = 0x01, OurFault;
    RINVCMDLEN = 0x02, OurFault;
    RINVCMDID = 0x03, OurFault;
    RINVBNDSTS = 0x04, BindState;
    RALYBND = 0x05, BindState;
    RINVPRTFLG = 0x06, OurFault;
    RINVREGDLVFLG = 0x07, OurFault;
    RSYSERR = 0x08, Temporary;
    RINVSRCADR = 0x0A, SourceRejected;
    RINVDSTADR = 0x0B, RecipientRejected;
    RINVMSGID = 0x0C, Ambiguous;
    RBINDFAIL = 0x0D, BindRefused;
    RINVPASWD = 0x0E, BindRefused;
    RINVSYSID = 0x0F, BindRefused;
    RCANCELFAIL = 0x11, Ambiguous;
    RREPLACEFAIL = 0x13, Ambiguous;
    RMSGQFUL = 0x14, QueueFull;
    RINVSERTYP = 0x15, OurFault;
    RINVNUMDESTS = 0x33, OurFault;
    RINVDLNAME = 0x34, OurFault;
    RINVDESTFLAG = 0x40, OurFault;
    RINVSUBREP = 0x42, OurFault;
    RINVESMCLASS = 0x43, OurFault;
    RCNTSUBDL = 0x44, OurFault;
    RSUBMITFAIL = 0x45, Ambiguous;
    RINVSRCTON = 0x48, OurFault;
    RINVSRCNPI = 0x49, OurFault;
    RINVDSTTON = 0x50, OurFault;
    RINVDSTNPI = 0x51, OurFault;
    RINVSYSTYP = 0x53, OurFault;
    RINVREPFLAG = 0x54, OurFault;
    RINVNUMMSGS = 0x55, OurFault;
    RTHROTTLED = 0x58, Throttled;
    RINVSCHED = 0x61, OurFault;
    RINVEXPIRY = 0x62, OurFault;
    RINVDFTMSGID = 0x63, OurFault;
    RX_T_APPN = 0x64, Temporary;
    RX_P_APPN = 0x65, SourceRejected;
    RX_R_APPN = 0x66, SourceRejected;
    RQUERYFAIL = 0x67, Ambiguous;
    RINVOPTPARSTREAM = 0xC0, OurFault;
    ROPTPARNOTALLWD = 0xC1, OurFault;
    RINVPARLEN = 0xC2, OurFault;
    RMISSINGOPTPARAM = 0xC3, OurFault;
    RINVOPTPARAMVAL = 0xC4, OurFault;
    RDELIVERYFAILURE = 0xFE, Ambiguous;
    RUNKNOWNERR = 0xFF, Ambiguous;
    RSERTYPUNAUTH = 0x100, SourceRejected;
    RPROHIBITED = 0x101, SourceRejected;
    RSERTYPUNAVAIL = 0x102, SourceRejected;
}

impl CommandStatus {
    /// Returns whether the code is one of those that the protocol leaves to vendors.
    pub const fn is_vendor(self) -> bool {
        matches!(self.0, 0x400..=0x4FF)
    }

    /// The status of a `generic_nack`, which never means success.
    pub(crate) const fn of_nack(self) -> Self {
        if self.is_ok() {
            Self::RUNKNOWNERR
        } else {
            self
        }
    }

    /// Returns whether the request was accepted.
    pub const fn is_ok(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for CommandStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:#010x})", self.name(), self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_the_table_has_its_class() {
        let table: &[(StatusClass, &[u32])] = &[
            (StatusClass::Ok, &[0]),
            (StatusClass::Throttled, &[0x58]),
            (StatusClass::QueueFull, &[0x14]),
            (StatusClass::Temporary, &[0x08, 0x64]),
            (
                StatusClass::Ambiguous,
                &[0x45, 0xFE, 0xFF, 0x400, 0x4FF, 0x7777],
            ),
            (StatusClass::RecipientRejected, &[0x0B]),
            (
                StatusClass::SourceRejected,
                &[0x0A, 0x65, 0x66, 0x100, 0x101, 0x102],
            ),
            (
                StatusClass::OurFault,
                &[
                    0x01, 0x02, 0x03, 0x06, 0x07, 0x15, 0x33, 0x34, 0x40, 0x42, 0x43, 0x44, 0x48,
                    0x49, 0x50, 0x51, 0x53, 0x54, 0x55, 0x61, 0x62, 0x63, 0xC0, 0xC1, 0xC2, 0xC3,
                    0xC4,
                ],
            ),
            (StatusClass::BindState, &[0x04, 0x05]),
            (StatusClass::BindRefused, &[0x0D, 0x0E, 0x0F]),
        ];
        for (class, codes) in table {
            for &code in *codes {
                assert_eq!(CommandStatus(code).class(), *class, "{code:#x}");
            }
        }
    }

    #[test]
    fn a_status_is_told_by_name_and_number() {
        assert_eq!(
            CommandStatus::RTHROTTLED.to_string(),
            "ESME_RTHROTTLED (0x00000058)"
        );
        assert_eq!(CommandStatus(0x401).to_string(), "vendor (0x00000401)");
    }
}
