//! `command_status`: names of the codes, and the reaction of a sender (SMPP 3.4, section 5.1.3).
//! The classes follow the use by carriers.

use std::fmt;

/// The `command_status` of a header: zero in requests, the outcome in responses. Unknown values are
/// allowed.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct CommandStatus(pub u32);

/// The reaction of the sender that a status requires.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum StatusClass {
    /// The request was accepted.
    Ok,
    /// The connection is too fast, so the sender slows down. The message itself is fine.
    Throttled,
    /// The queue of the peer or of the recipient is full, so this message waits.
    QueueFull,
    /// The failure is temporary: retry some times, then use another carrier.
    Temporary,
    /// The code is too vague, like vendor codes: retry once or twice, then use another carrier.
    Ambiguous,
    /// The recipient is rejected for ever.
    RecipientRejected,
    /// The sender or the service is rejected. Another carrier may accept it.
    SourceRejected,
    /// Our request is invalid, by the configuration or a bug.
    OurFault,
    /// The connection is in the wrong state, so the client must bind again. The message was not
    /// accepted.
    BindState,
    /// The bind is rejected for its credentials or the number of binds.
    BindRefused,
}

/// Declares the codes with their names and classes.
macro_rules! statuses {
    ($($name:ident = $code:literal, $class:ident;)*) => {
        impl CommandStatus {
            $(
                #[doc = concat!("`ESME_", stringify!($name), "`")]
                pub const $name: Self = Self($code);
            )*

            /// Returns the name in the protocol (`ESME_RTHROTTLED`), `vendor` from 0x400 to 0x4FF,
            /// or `reserved`.
            pub const fn name(self) -> &'static str {
                match self.0 {
                    $($code => concat!("ESME_", stringify!($name)),)*
                    0x400..=0x4FF => "vendor",
                    _ => "reserved",
                }
            }

            /// Returns `true` if the protocol defines the code.
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
    /// Returns `true` if the protocol leaves the code to vendors.
    pub const fn is_vendor(self) -> bool {
        matches!(self.0, 0x400..=0x4FF)
    }

    /// Returns the status of a `generic_nack`, which never is a success.
    pub(crate) const fn of_nack(self) -> Self {
        if self.is_ok() {
            Self::RUNKNOWNERR
        } else {
            self
        }
    }

    /// Returns `true` if the request was accepted.
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
    fn a_status_is_shown_by_name_and_number() {
        assert_eq!(
            CommandStatus::RTHROTTLED.to_string(),
            "ESME_RTHROTTLED (0x00000058)"
        );
        assert_eq!(CommandStatus(0x401).to_string(), "vendor (0x00000401)");
    }
}
