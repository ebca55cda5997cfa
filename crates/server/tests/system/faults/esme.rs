//! A customer's SMPP client, whose server may end at any moment.

use crate::customer::Customer;
use crate::installation::Installation;
use smpp::codec::{AddressFields, BindFields, Pdu, QueryFields, Sm, encode};
use smpp::{BindKind, Command, CommandStatus, first_frame};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Timeout of an answer.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The credentials of an SMPP user.
#[derive(Clone)]
pub(crate) struct User {
    system_id: String,
    password: String,
}

impl User {
    /// Creates a user of a customer by the command of an operator.
    pub(crate) fn new(ogene: &Installation, customer: &Customer) -> Self {
        let create = ["smpp-user", "create", "--gateway", "direct-refund"];
        let made = ogene.json(&[&create[..], &["--account", &customer.account]].concat());
        let text = |name: &str| made[name].as_str().expect("a text").to_owned();
        Self {
            system_id: text("system_id"),
            password: text("password"),
        }
    }
}

/// A bound connection.
pub(crate) struct Esme {
    stream: TcpStream,
    octets: Vec<u8>,
    sequence: u32,
}

impl Esme {
    /// Connects and binds as a transmitter.
    pub(crate) fn bind(address: &str, user: &User) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let mut esme = Self {
            stream,
            octets: Vec::new(),
            sequence: 0,
        };
        let fields = BindFields {
            system_id: user.system_id.as_bytes(),
            password: user.password.as_bytes(),
            interface_version: 0x34,
            ..BindFields::default()
        };
        match esme.ask(&Pdu::Bind(BindKind::Transmitter, fields))? {
            (CommandStatus::ROK, _) => Ok(esme),
            // A database that fails refuses the bind for now.
            (status, _) => Err(io::Error::other(format!("{status:?}"))),
        }
    }

    /// Submits a text. Returns the id of the message, or an error if it is not known to be accepted.
    pub(crate) fn submit(&mut self, to: u64, text: &str) -> io::Result<String> {
        let to = to.to_string();
        let address = |ton, npi, digits| AddressFields { ton, npi, digits };
        let submit = Sm {
            source: address(5, 0, b"AdaFoods"),
            destination: address(1, 1, to.as_bytes()),
            short_message: text.as_bytes(),
            ..Sm::default()
        };
        let (status, body) = self.ask(&Pdu::Submit(submit))?;
        if status != CommandStatus::ROK {
            return Err(io::Error::other(format!("{status:?}")));
        }
        Ok(id_of(&body))
    }

    /// Returns the state of a message.
    pub(crate) fn query(&mut self, id: &str) -> io::Result<u8> {
        let fields = QueryFields {
            message_id: id.as_bytes(),
            ..QueryFields::default()
        };
        let (status, body) = self.ask(&Pdu::Query(fields))?;
        assert_eq!(status, CommandStatus::ROK, "{id} is known");
        assert_eq!(id_of(&body), id);
        // The final date follows the id, and then state and error.
        Ok(body[body.len() - 2])
    }

    /// Writes a request, and reads its answer.
    fn ask(&mut self, pdu: &Pdu<'_>) -> io::Result<(CommandStatus, Vec<u8>)> {
        let mut request = Vec::new();
        self.sequence += 1;
        encode(&mut request, CommandStatus::ROK, self.sequence, pdu).expect("it can be encoded");
        self.stream.write_all(&request)?;
        loop {
            let (command, answer) = self.read()?;
            if command != Command::ENQUIRE_LINK {
                return Ok(answer);
            }
        }
    }

    fn read(&mut self) -> io::Result<(Command, (CommandStatus, Vec<u8>))> {
        loop {
            if let Some(frame) = first_frame(&self.octets).expect("whole PDUs") {
                let header = (frame.header.command, frame.header.status);
                let body = frame.body.to_vec();
                self.octets.drain(..16 + body.len());
                return Ok((header.0, (header.1, body)));
            }
            let mut octets = [0; 4096];
            match self.stream.read(&mut octets)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => self.octets.extend(&octets[..read]),
            }
        }
    }
}

/// Returns the id at the beginning of an answer.
fn id_of(body: &[u8]) -> String {
    let id = body.split(|octet| *octet == 0).next().expect("an id");
    String::from_utf8(id.to_vec()).expect("text")
}
