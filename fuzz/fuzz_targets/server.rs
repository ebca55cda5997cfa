//! Octets from any client to a server: the session answers the same for any cut of them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use smpp::FrameBuffer;
use smpp::codec::{Pdu, QueryRespFields};
use smpp::server::{ServerEvent, ServerOptions, ServerSession};
use tokio::time::Instant;

/// Returns the octets of a server that accepts every request, and reads so many octets at a time.
fn answers(octets: &[u8], at_a_time: usize, now: Instant) -> Vec<u8> {
    let mut session: ServerSession<()> = ServerSession::new(ServerOptions::default(), now);
    let mut input = FrameBuffer::new();
    for mut part in octets.chunks(at_a_time) {
        while !part.is_empty() && session.is_open() {
            part = &part[input.push(part)..];
            handle(&mut session, &mut input, now);
        }
    }
    session.on_time(now);
    session.unsent().to_vec()
}

fn handle(session: &mut ServerSession<()>, input: &mut FrameBuffer, now: Instant) {
    while session.is_open() {
        match input.next_whole_frame() {
            Ok(None) => return,
            Err(_) => session.on_broken_length(now),
            Ok(Some(frame)) => {
                if let Some(event) = session.on_frame(&frame, now) {
                    answer(session, event);
                }
            }
        }
    }
}

fn answer(session: &mut ServerSession<()>, event: ServerEvent<'_, ()>) {
    let (request, answered) = match event {
        ServerEvent::Bind(request, kind, fields) => {
            (request, session.grant(request, kind, &fields))
        }
        ServerEvent::Submit(request, _)
        | ServerEvent::SubmitMulti(request, ..)
        | ServerEvent::Data(request, _)
        | ServerEvent::Cancel(request, _) => (request, session.accept(request, b"1")),
        ServerEvent::Query(request, fields) => {
            let response = QueryRespFields {
                message_id: fields.message_id,
                ..QueryRespFields::default()
            };
            (
                request,
                session.answer(request, &Pdu::QueryResp(response)),
            )
        }
        ServerEvent::Answered((), _) => return,
    };
    if let Err(status) = answered {
        session.respond(request, status);
    }
}

fuzz_target!(|octets: &[u8]| {
    let now = Instant::now();
    let whole = answers(octets, octets.len().max(1), now);
    for at_a_time in [1, 7, 64] {
        assert_eq!(answers(octets, at_a_time, now), whole);
    }
});
