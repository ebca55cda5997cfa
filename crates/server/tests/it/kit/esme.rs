//! A client of the SMPP server. It writes and reads single PDUs, also ones that no real client sends.

use super::{Ogene, operations};
use domain::smpp_user::SmppUser;
use engine::operators::NewSmppUser;
use smpp::codec::{AddressFields, BindFields, Pdu, QueryFields, Sm, decode, encode};
use smpp::{BindKind, Command, CommandStatus, first_frame};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU16, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{MTN, SENDER};

/// Returns an address of the loopback network that no other test uses. The number of the process is
/// part of it, since each test has a process.
pub(crate) fn own_address() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(2_776);
    let [_, high, middle, low] = std::process::id().to_be_bytes();
    let port = NEXT.fetch_add(1, Ordering::Relaxed);
    SocketAddr::from(([127, high | 0x40, middle, low], port))
}

/// A user with its password.
#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) user: SmppUser,
    pub(crate) password: String,
}

impl Ogene {
    /// Creates an SMPP user of the shop.
    pub(crate) async fn smpp_user(&self, new: NewSmppUser) -> User {
        let store = self.store().await;
        let users = operations(&store).smpp_users();
        let (user, password) = users.create(self.shop.id, new).await.expect("a user");
        store.close().await;
        User { user, password }
    }

    /// Revokes an SMPP user.
    pub(crate) async fn revoke(&self, user: &User) {
        let store = self.store().await;
        let users = operations(&store).smpp_users();
        users.revoke(&user.user.system_id).await.expect("revoked");
        store.close().await;
    }
}

/// A PDU of the server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Answer {
    pub(crate) command: Command,
    pub(crate) status: CommandStatus,
    pub(crate) sequence: u32,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Returns the id of an accepted message.
    pub(crate) fn message_id(&self) -> String {
        assert_eq!(self.status, CommandStatus::ROK, "{self:?}");
        let (last, id) = self.body.split_last().expect("an id");
        assert_eq!(*last, 0, "the id ends with NUL, and no parameter follows");
        String::from_utf8(id.to_vec()).expect("text")
    }
}

/// A client.
pub(crate) struct Esme {
    stream: TcpStream,
    octets: Vec<u8>,
    sequence: u32,
}

impl Esme {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self {
            stream: TcpStream::connect(address).await.expect("it listens"),
            octets: Vec::new(),
            sequence: 0,
        }
    }

    /// Connects and binds, with success.
    pub(crate) async fn bound(address: SocketAddr, kind: BindKind, user: &User) -> Self {
        let mut esme = Self::connect(address).await;
        let answer = esme.bind(kind, user, 0x34).await;
        assert_eq!(answer.status, CommandStatus::ROK, "{answer:?}");
        esme
    }

    /// Asks to bind.
    pub(crate) async fn bind(&mut self, kind: BindKind, user: &User, version: u8) -> Answer {
        let fields = BindFields {
            system_id: user.user.system_id.as_bytes(),
            password: user.password.as_bytes(),
            interface_version: version,
            ..BindFields::default()
        };
        self.ask(&Pdu::Bind(kind, fields)).await
    }

    /// Writes a PDU. Returns its sequence number.
    pub(crate) async fn write(&mut self, pdu: &Pdu<'_>) -> u32 {
        let mut octets = Vec::new();
        self.sequence += 1;
        encode(&mut octets, CommandStatus::ROK, self.sequence, pdu).expect("it can be encoded");
        self.write_octets(&octets).await;
        self.sequence
    }

    /// Writes octets. The server may have closed the connection.
    pub(crate) async fn write_octets(&mut self, octets: &[u8]) {
        let _ = self.stream.write_all(octets).await;
    }

    /// Writes an answer to the server.
    pub(crate) async fn respond(&mut self, sequence: u32, pdu: &Pdu<'_>) {
        self.respond_with(CommandStatus::ROK, sequence, pdu).await;
    }

    /// Writes an answer with a status to the server.
    pub(crate) async fn respond_with(
        &mut self,
        status: CommandStatus,
        sequence: u32,
        pdu: &Pdu<'_>,
    ) {
        let mut octets = Vec::new();
        encode(&mut octets, status, sequence, pdu).expect("it can be encoded");
        self.write_octets(&octets).await;
    }

    /// Reads a PDU. Returns `None` at the end of the stream.
    pub(crate) async fn read(&mut self) -> Option<Answer> {
        loop {
            if let Some(frame) = first_frame(&self.octets).expect("whole PDUs") {
                let answer = Answer {
                    command: frame.header.command,
                    status: frame.header.status,
                    sequence: frame.header.sequence,
                    body: frame.body.to_vec(),
                };
                let read = 16 + answer.body.len();
                self.octets.drain(..read);
                return Some(answer);
            }
            match self.stream.read_buf(&mut self.octets).await {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// Waits until the server has closed the connection, whatever it writes before.
    pub(crate) async fn ended(&mut self) {
        // A reset ends it as well.
        let _ = self.stream.read_to_end(&mut self.octets).await;
    }

    /// Writes a PDU, and reads its answer.
    pub(crate) async fn ask(&mut self, pdu: &Pdu<'_>) -> Answer {
        let sequence = self.write(pdu).await;
        let answer = self.read().await.expect("an answer");
        assert_eq!(answer.sequence, sequence, "{answer:?}");
        answer
    }

    /// Submits a message, and reads the answer.
    pub(crate) async fn submit(&mut self, message: Sm<'_>) -> Answer {
        self.ask(&Pdu::Submit(message)).await
    }

    /// Returns the state and the final date of a message.
    pub(crate) async fn query(&mut self, id: &str) -> (u8, String) {
        let fields = QueryFields {
            message_id: id.as_bytes(),
            ..QueryFields::default()
        };
        let answer = self.ask(&Pdu::Query(fields)).await;
        assert_eq!(answer.status, CommandStatus::ROK, "{answer:?}");
        let mut fields = answer.body.split(|octet| *octet == 0);
        assert_eq!(fields.next(), Some(id.as_bytes()));
        let date = fields.next().expect("a date");
        let date = String::from_utf8(date.to_vec()).expect("text");
        (answer.body[id.len() + date.len() + 2], date)
    }
}

/// Returns a text to one number, as node-smpp and Kannel write it.
pub(crate) fn message(text: &[u8]) -> Sm<'_> {
    Sm {
        source: AddressFields {
            ton: 5,
            npi: 0,
            digits: SENDER.as_bytes(),
        },
        destination: AddressFields {
            ton: 1,
            npi: 1,
            digits: MTN.as_bytes(),
        },
        short_message: text,
        ..Sm::default()
    }
}

/// Returns `true` if an answer is of this kind.
pub(crate) fn is(answer: &Answer, command: Command, status: CommandStatus) -> bool {
    let pdu = decode(answer.command, &answer.body);
    assert!(pdu.is_ok(), "{answer:?}");
    (answer.command, answer.status) == (command, status)
}
