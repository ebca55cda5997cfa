//! A minimal HTTP/1.1 client, which must cost less than the measured service. It sends one request
//! at a time on a keep-alive connection. Answers must have a length.

use anyhow::{Context, Result, bail};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An answer longer than this is a fault.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// A keep-alive connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer, borrowed from the connection until the next request.
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    head: &'a [u8],
    pub(crate) body: &'a [u8],
}

impl Answer<'_> {
    /// Returns a header by its name in lower case.
    pub(crate) fn header(&self, name: &[u8]) -> Option<&[u8]> {
        header(self.head, name)
    }

    /// Returns the values of a header that may be repeated.
    pub(crate) fn headers<'n>(&'n self, name: &'n [u8]) -> impl Iterator<Item = &'n [u8]> {
        headers(self.head, name)
    }
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(8 * 1024),
        })
    }

    /// Sends a whole request and reads its answer.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.buffer.clear();
        self.stream.write_all(request).await?;
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                bail!("the connection was closed in place of an answer");
            }
            if let Some(message) = message(&self.buffer)? {
                let status = self.buffer.get(9..12).and_then(digits);
                return Ok(Answer {
                    status: u16::try_from(status.unwrap_or(0))?,
                    head: &self.buffer[..message.head],
                    body: &self.buffer[message.head..message.length],
                });
            }
        }
    }

    /// Sends the begin of a request, and closes the connection after a quarter of the rest of a time.
    pub(crate) async fn break_off(mut self, octets: &[u8], time: Duration) -> Result<()> {
        let began = Instant::now();
        self.stream.write_all(octets).await?;
        tokio::time::sleep(time.saturating_sub(began.elapsed()) / 4).await;
        Ok(())
    }

    /// Returns the body of a GET that is answered 200.
    pub(crate) async fn get(&mut self, path: &str) -> Result<String> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n");
        let answer = self.ask(request.as_bytes()).await?;
        if answer.status != 200 {
            bail!("{path} is answered {}", answer.status);
        }
        Ok(String::from_utf8_lossy(answer.body).into_owned())
    }

    /// Sends a request of HTTP/1.0. Passes the body, as it arrives, to `each` until the server
    /// closes the connection. An answer other than 200 is a fault.
    pub(crate) async fn read_to_end(
        &mut self,
        request: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        self.buffer.clear();
        self.stream.write_all(request).await?;
        let mut in_body = false;
        while self.stream.read_buf(&mut self.buffer).await? > 0 {
            if !in_body {
                let Some(end) = head_end(&self.buffer) else {
                    continue;
                };
                if self.buffer.get(9..12) != Some(b"200") {
                    bail!("answered {}", String::from_utf8_lossy(&self.buffer));
                }
                self.buffer.drain(..end);
                in_body = true;
            }
            each(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

/// The end of a message in a buffer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Message {
    pub(crate) head: usize,
    pub(crate) length: usize,
}

/// Finds the first whole message, or `None` while it is incomplete. A message without a length has
/// no body.
pub(crate) fn message(octets: &[u8]) -> Result<Option<Message>> {
    if octets.len() > MAX_ANSWER_BYTES {
        bail!("an HTTP message is longer than {MAX_ANSWER_BYTES} bytes");
    }
    let Some(head) = head_end(octets) else {
        return Ok(None);
    };
    let body = match header(&octets[..head], b"content-length") {
        Some(value) => digits(value).context("content-length is no number")?,
        None => 0,
    };
    let length = head + usize::try_from(body)?;
    Ok((octets.len() >= length).then_some(Message { head, length }))
}

/// Returns the length of a whole head.
fn head_end(octets: &[u8]) -> Option<usize> {
    let end = octets.windows(4).position(|four| four == b"\r\n\r\n");
    end.map(|end| end + 4)
}

fn header<'a>(head: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    headers(head, name).next()
}

fn headers<'a>(head: &'a [u8], name: &[u8]) -> impl Iterator<Item = &'a [u8]> {
    let lines = head.split(|&octet| octet == b'\n').skip(1);
    lines.filter_map(|line| {
        let (found, value) = line.split_at_checked(name.len())?;
        let value = value.strip_prefix(b":")?;
        found.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
    })
}

/// Returns the number that these digits form.
pub(crate) fn digits(text: &[u8]) -> Option<u64> {
    text.iter().try_fold(0u64, |number, octet| {
        let digit = octet.is_ascii_digit().then(|| u64::from(octet - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_whole_with_its_last_octet() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length:  2\r\n\r\nokHTTP/1.1";
        for cut in 0..41 {
            assert_eq!(message(&text[..cut]).expect("no fault"), None, "{cut}");
        }
        let whole = message(text).expect("no fault");
        assert_eq!(
            whole,
            Some(Message {
                head: 39,
                length: 41
            })
        );
    }
}
