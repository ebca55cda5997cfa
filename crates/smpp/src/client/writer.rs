//! The PDUs that a session writes. Each of them is recorded in the log of the carrier.

use super::sequence_set::SequenceSet;
use crate::codec::{Pdu, Sm, encode, encode_empty};
use crate::command::Command;
use crate::output::Output;
use crate::pdu_log::{Direction, LoggedPdu, PduLog};
use crate::status::CommandStatus;
use tokio::time::Instant;

/// The output of a session, and the log of its PDUs.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) output: Output,
    pub(super) log: PduLog,
    /// Sequence numbers of unanswered `data_sm`, whose response differs from that of `deliver_sm`.
    pub(super) data_sequences: SequenceSet,
}

impl Writer {
    pub(super) fn new(log: PduLog) -> Self {
        Self {
            output: Output::default(),
            log,
            data_sequences: SequenceSet::default(),
        }
    }

    /// Encodes a submit. Returns its position in the stream, or the fault of the message.
    pub(super) fn submit(
        &mut self,
        message: Sm<'_>,
        sequence: u32,
        now: Instant,
    ) -> Result<u64, CommandStatus> {
        let start = self.output.position();
        self.write(&Pdu::Submit(message), CommandStatus::ROK, sequence, now)?;
        Ok(start)
    }

    /// Encodes the answer to a message of the peer.
    pub(super) fn answer(
        &mut self,
        sequence: u32,
        status: CommandStatus,
        now: Instant,
    ) -> Result<(), CommandStatus> {
        let pdu = if self.data_sequences.take(sequence) {
            Pdu::DataResp(b"")
        } else {
            Pdu::DeliverResp
        };
        self.write(&pdu, status, sequence, now)
    }

    /// Encodes a PDU without a body.
    pub(super) fn empty(
        &mut self,
        command: Command,
        status: CommandStatus,
        sequence: u32,
        now: Instant,
    ) {
        encode_empty(&mut self.output.octets, command, status, sequence);
        let row = LoggedPdu::of_header(Direction::Sent, command, status, sequence, now);
        self.log.record(row);
    }

    fn write(
        &mut self,
        pdu: &Pdu<'_>,
        status: CommandStatus,
        sequence: u32,
        now: Instant,
    ) -> Result<(), CommandStatus> {
        encode(&mut self.output.octets, status, sequence, pdu)?;
        let row = LoggedPdu::of_header(Direction::Sent, pdu.command(), status, sequence, now);
        self.log.record(row.with(pdu));
        Ok(())
    }
}
