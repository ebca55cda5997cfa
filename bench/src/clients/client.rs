//! One SMPP client of a customer. It must cost less than the measured service, so it fills in a
//! template, and reads and writes many PDUs at once.

use super::answers::Answers;
use super::page::Page;
use super::receipts::Receipts;
use crate::site::smpp_users::Credentials;
use anyhow::{Context, Result, anyhow, bail};
use smpp::codec::{BindFields, Pdu, decode, encode, encode_empty};
use smpp::{BindKind, Command, CommandStatus, Frame, first_frame, next_sequence};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The version in a bind: 3.4.
const VERSION: u8 = 0x34;

/// A bound client.
pub(crate) struct Client {
    stream: TcpStream,
    input: Vec<u8>,
    output: Vec<u8>,
    sequence: u32,
    page: Page,
    /// The time from which the latency of each submit without a response counts, by sequence
    /// number.
    open: HashMap<u32, Instant>,
    receipts: Arc<Receipts>,
    /// The number of answered `enquire_link` of the service.
    pub(crate) enquiries: u64,
    /// The last response that is none to a submit.
    responded: Option<Command>,
}

impl Client {
    /// Connects and binds. A client that can receive asks for receipts.
    pub(crate) async fn bind(
        address: SocketAddr,
        user: &Credentials,
        kind: BindKind,
        receipts: Arc<Receipts>,
    ) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut client = Self {
            stream,
            input: Vec::new(),
            output: Vec::new(),
            sequence: 0,
            page: Page::new(kind.receives())?,
            open: HashMap::new(),
            receipts,
            enquiries: 0,
            responded: None,
        };
        let fields = BindFields {
            system_id: user.system_id.as_bytes(),
            password: user.password.as_bytes(),
            interface_version: VERSION,
            ..BindFields::default()
        };
        let sequence = client.next_sequence();
        let bind = Pdu::Bind(kind, fields);
        encode(&mut client.output, CommandStatus::ROK, sequence, &bind).map_err(refused)?;
        client.await_response(kind.command().response()).await?;
        Ok(client)
    }

    /// Asks for a receipt of each further submit, or for none.
    pub(crate) fn ask_for_receipts(&mut self, asks: bool) -> Result<()> {
        self.page = Page::new(asks)?;
        Ok(())
    }

    /// Returns the number of submits without a response.
    pub(crate) fn open(&self) -> usize {
        self.open.len()
    }

    /// Returns the number of octets that are not written yet.
    pub(super) fn unwritten(&self) -> usize {
        self.output.len()
    }

    /// Appends a submit to the output. Its latency begins at `from`.
    pub(super) fn submit(&mut self, number: u64, from: Instant) {
        let sequence = self.next_sequence();
        self.page.write(&mut self.output, sequence, number);
        self.open.insert(sequence, from);
    }

    /// Writes the output, or reads once and handles all whole PDUs. It may be cancelled.
    pub(super) async fn step(&mut self, answers: &mut Answers) -> Result<()> {
        let (mut reader, mut writer) = self.stream.split();
        let read = tokio::select! {
            written = writer.write(&self.output), if !self.output.is_empty() => {
                self.output.drain(..written?);
                return Ok(());
            }
            read = reader.read_buf(&mut self.input) => read?,
        };
        if read == 0 {
            bail!("the service closed the connection of a client");
        }
        self.handle(answers)
    }

    /// Writes the whole output.
    pub(super) async fn flush(&mut self) -> Result<()> {
        self.stream.write_all(&self.output).await?;
        self.output.clear();
        Ok(())
    }

    /// Sends an `enquire_link` and waits for its response.
    pub(super) async fn enquire(&mut self) -> Result<()> {
        self.request(Command::ENQUIRE_LINK).await
    }

    /// Unbinds.
    pub(super) async fn unbind(mut self) -> Result<()> {
        self.request(Command::UNBIND).await
    }

    async fn request(&mut self, command: Command) -> Result<()> {
        let sequence = self.next_sequence();
        encode_empty(&mut self.output, command, CommandStatus::ROK, sequence);
        self.await_response(command.response()).await
    }

    async fn await_response(&mut self, response: Command) -> Result<()> {
        let mut answers = Answers::new(Instant::now())?;
        self.responded = None;
        while self.responded != Some(response) {
            self.step(&mut answers).await?;
        }
        Ok(())
    }

    fn next_sequence(&mut self) -> u32 {
        self.sequence = next_sequence(self.sequence);
        self.sequence
    }

    fn handle(&mut self, answers: &mut Answers) -> Result<()> {
        let now = Instant::now();
        let mut input = std::mem::take(&mut self.input);
        let mut at = 0;
        while let Some(frame) = first_frame(&input[at..])? {
            at += frame.octets();
            self.on_frame(&frame, answers, now)?;
        }
        input.drain(..at);
        self.input = input;
        Ok(())
    }

    fn on_frame(&mut self, frame: &Frame<'_>, answers: &mut Answers, now: Instant) -> Result<()> {
        let header = frame.header;
        match header.command {
            Command::SUBMIT_SM_RESP => {
                let from = self.open.remove(&header.sequence);
                let from = from.context("a response to no submit")?;
                answers.note(header.status, now.saturating_duration_since(from));
            }
            Command::DELIVER_SM => {
                let Ok(Pdu::Deliver(message)) = decode(header.command, frame.body) else {
                    bail!("a deliver_sm cannot be read");
                };
                self.receipts.take(&message, now);
                let (status, answer) = (CommandStatus::ROK, Pdu::DeliverResp);
                encode(&mut self.output, status, header.sequence, &answer).map_err(refused)?;
            }
            Command::ENQUIRE_LINK => {
                self.enquiries += 1;
                let response = Command::ENQUIRE_LINK_RESP;
                let status = CommandStatus::ROK;
                encode_empty(&mut self.output, response, status, header.sequence);
            }
            response if response.is_response() && header.status.is_ok() => {
                self.responded = Some(response);
            }
            other => bail!("the service sends {other} with {:?}", header.status),
        }
        Ok(())
    }
}

fn refused(status: CommandStatus) -> anyhow::Error {
    anyhow!("a PDU cannot be written: {status:?}")
}
