//! The bind, which makes a session of a connected stream (SMPP 3.4, section 4.1).

use super::event::Peer;
use super::link::Link;
use super::mailbox::{EventStream, Mailbox, Session};
use super::options::BindOptions;
use super::task::Task;
use crate::codec::{self, BindFields, Pdu, encode, encode_empty};
use crate::command::Command;
use crate::frame::Frame;
use crate::frame_buffer::FrameBuffer;
use crate::limits::{MAX_SYSTEM_ID_OCTETS, text_within};
use crate::pdu::Bind;
use crate::pdu_log::{Direction, LoggedPdu};
use crate::status::CommandStatus;
use std::future::poll_fn;
use std::io;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, ToSocketAddrs};
use tokio::time::{Instant, timeout};

/// The `interface_version` of SMPP 3.4.
const INTERFACE_VERSION: u8 = 0x34;
/// The sequence number of the bind itself.
const BIND_SEQUENCE: u32 = 1;
/// Maximum number of octets before the response to the bind.
const MAX_EARLY_OCTETS: usize = 256 * 1024;

/// The reason why the bind failed.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The SMSC rejected the bind.
    #[error("the bind was refused with {0}")]
    Refused(CommandStatus),
    /// The SMSC closed the connection instead of answering.
    #[error("the connection was closed before the bind was answered")]
    Closed,
    /// The bind timed out, or with [`connect`] the connection did.
    #[error("the bind was not answered in time")]
    TimedOut,
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// The peer does not speak SMPP, or our options do not fit into a bind.
    #[error("{0}")]
    Protocol(&'static str),
}

/// Connects over TCP without Nagle's delay, and binds. Each step has the timeout `bind_timeout`.
pub async fn connect(
    address: impl ToSocketAddrs,
    options: &BindOptions,
) -> Result<(Session, EventStream), BindError> {
    let connected = timeout(options.bind_timeout, TcpStream::connect(address)).await;
    let stream = connected.map_err(|_| BindError::TimedOut)??;
    stream.set_nodelay(true)?;
    bind(stream, options).await
}

/// Binds over any stream, and starts the session's task. For speed over TCP set `TCP_NODELAY`.
pub async fn bind<S>(
    mut stream: S,
    options: &BindOptions,
) -> Result<(Session, EventStream), BindError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let shaken = timeout(options.bind_timeout, exchange_bind(&mut stream, options)).await;
    let shaken = shaken.map_err(|_| BindError::TimedOut)??;
    let send_tlvs = options.always_send_tlvs
        || shaken
            .peer
            .interface_version
            .is_some_and(|version| version >= INTERFACE_VERSION);
    let link = Link::new(options, send_tlvs, BIND_SEQUENCE, Instant::now());
    let (mailbox, session, events) = Mailbox::open(options.kind.submits(), shaken.peer);
    let mut task = Task::new(stream, shaken.input, link, mailbox);
    task.take_early(&shaken.early);
    tokio::spawn(async move { poll_fn(|cx| task.poll(cx)).await });
    Ok((session, events))
}

/// The result of the handshake.
struct Handshake {
    peer: Peer,
    /// Octets that were read after the response.
    input: FrameBuffer,
    /// Complete PDUs that arrived before the response.
    early: Vec<u8>,
}

async fn exchange_bind<S>(stream: &mut S, options: &BindOptions) -> Result<Handshake, BindError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    stream.write_all(&request(options)?).await?;
    stream.flush().await?;
    let command = options.kind.command();
    let (sent, ok) = (Direction::Sent, CommandStatus::ROK);
    let bind = LoggedPdu::of_header(sent, command, ok, BIND_SEQUENCE, Instant::now());
    options.pdus.record(bind);
    let mut input = FrameBuffer::new();
    let mut early = Vec::new();
    loop {
        let mut answers = Vec::new();
        let next = input.next_frame();
        match next.map_err(|_| BindError::Protocol("the peer does not speak SMPP"))? {
            Some(frame) => {
                record(&frame, options);
                if let Some(peer) = handle_frame(&frame, &mut answers, &mut early)? {
                    return Ok(Handshake { peer, input, early });
                }
            }
            None => {
                if poll_fn(|cx| input.poll_fill(stream, cx)).await? == 0 {
                    return Err(BindError::Closed);
                }
            }
        }
        if early.len() > MAX_EARLY_OCTETS {
            return Err(BindError::Protocol(
                "too much came before the bind was answered",
            ));
        }
        if !answers.is_empty() {
            stream.write_all(&answers).await?;
            stream.flush().await?;
        }
    }
}

/// Records a PDU that the handshake handles itself, and its answer. The session records those that
/// are kept for it.
fn record(frame: &Frame<'_>, options: &BindOptions) {
    let header = frame.header;
    let pdu = codec::decode(header.command, frame.body).ok();
    if let Some(Pdu::BindResp(..) | Pdu::GenericNack | Pdu::Unbind | Pdu::EnquireLink) = pdu {
        let row = LoggedPdu::received(header, pdu.as_ref(), Instant::now());
        options.pdus.record(row);
    }
    if let Some(Pdu::EnquireLink) = pdu {
        let (command, ok) = (header.command.response(), CommandStatus::ROK);
        let (sent, now) = (Direction::Sent, Instant::now());
        let answer = LoggedPdu::of_header(sent, command, ok, header.sequence, now);
        options.pdus.record(answer);
    }
}

/// Returns the peer if the frame is the response to the bind. An `enquire_link` is answered, and
/// any other PDU is kept.
fn handle_frame(
    frame: &Frame<'_>,
    answers: &mut Vec<u8>,
    early: &mut Vec<u8>,
) -> Result<Option<Peer>, BindError> {
    let header = frame.header;
    match codec::decode(header.command, frame.body) {
        Ok(Pdu::BindResp(..) | Pdu::GenericNack) if !header.status.is_ok() => {
            Err(BindError::Refused(header.status))
        }
        Ok(Pdu::BindResp(_, fields)) => Ok(Some(Peer {
            system_id: text_within(fields.system_id, MAX_SYSTEM_ID_OCTETS),
            interface_version: fields.interface_version(),
        })),
        Ok(Pdu::GenericNack) => Err(BindError::Refused(CommandStatus::RBINDFAIL)),
        Ok(Pdu::Unbind) => Err(BindError::Closed),
        Ok(Pdu::EnquireLink) => {
            let command = Command::ENQUIRE_LINK.response();
            encode_empty(answers, command, CommandStatus::ROK, header.sequence);
            Ok(None)
        }
        Ok(_) | Err(_) => {
            write_back(frame, early);
            Ok(None)
        }
    }
}

/// Keeps a frame in its encoded form.
fn write_back(frame: &Frame<'_>, early: &mut Vec<u8>) {
    let header = frame.header;
    let pdu = Pdu::Other(header.command, frame.body);
    // A frame that was read fits into a frame that may be written.
    let _ = encode(early, header.status, header.sequence, &pdu);
}

fn request(options: &BindOptions) -> Result<Vec<u8>, BindError> {
    let bind = Bind {
        system_id: options.system_id.clone(),
        password: options.password.clone(),
        system_type: options.system_type.clone(),
        interface_version: INTERFACE_VERSION,
        addr_ton: options.addr_ton,
        addr_npi: options.addr_npi,
        address_range: options.address_range.clone(),
    };
    let mut octets = Vec::new();
    let pdu = Pdu::Bind(options.kind, BindFields::of(&bind));
    encode(&mut octets, CommandStatus::ROK, BIND_SEQUENCE, &pdu)
        .map_err(|_| BindError::Protocol("a field of the bind is too long"))?;
    Ok(octets)
}
