//! A payment provider that answers and signs as the documentation of Flutterwave, version 3, says.
//! Each payment that it is asked for is paid.

use crate::callbacks::value_of;
use crate::http::message;
use anyhow::{Context, Result};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// The amount of each top-up, and what is paid for it, with VAT.
pub(crate) const AMOUNT_NAIRA: u64 = 1_000;
const TOTAL_NAIRA: &str = "1075";
/// The secret hash, which each webhook carries.
const HASH: &str = "bench-hash";
const PAGE: &str = r#"{"status":"success","data":{"link":"https://checkout.example.com/page"}}"#;

/// A provider in a thread of its own, which ends when it is dropped.
pub(crate) struct PaymentProvider {
    address: SocketAddr,
    _stop: oneshot::Sender<()>,
}

impl PaymentProvider {
    pub(crate) fn start() -> Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    // Without a listener no payment is confirmed, and the scenario fails.
                    _ = serve(listener) => {}
                    _ = stopped => {}
                }
            });
        });
        Ok(Self {
            address,
            _stop: stop,
        })
    }

    /// Returns the sections of the configuration. The search for payments does not run meanwhile.
    pub(crate) fn sections(&self) -> String {
        format!(
            "[http]\npublic_url = \"http://sms.example.ng\"\n[payments]\nsweep = \"1h\"\n\
             [payments.flutterwave]\nbase_url = \"http://{}\"\nsecret_key = \"FLWSECK-bench\"\n\
             secret_hash = \"{HASH}\"\nversion = 3\n",
            self.address
        )
    }
}

/// Returns the webhook about a payment as a whole request.
pub(crate) fn webhook(reference: &str) -> String {
    let body = format!(
        r#"{{"event":"charge.completed","data":{{"id":7,"tx_ref":"{reference}","amount":{TOTAL_NAIRA},"currency":"NGN","status":"successful"}}}}"#
    );
    format!(
        "POST /hooks/payments/flutterwave HTTP/1.1\r\nHost: bench\r\nverif-hash: {HASH}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

async fn serve(listener: std::net::TcpListener) -> Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(answer(stream));
    }
}

async fn answer(mut stream: TcpStream) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(4 * 1024);
    while stream.read_buf(&mut buffer).await? > 0 {
        while let Some(request) = message(&buffer)? {
            let body = answer_to(&buffer[..request.length])?;
            buffer.drain(..request.length);
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).await?;
        }
    }
    Ok(())
}

/// Returns the page of a new payment, or the payment that is asked for.
fn answer_to(request: &[u8]) -> Result<String> {
    if request.starts_with(b"POST ") {
        return Ok(PAGE.to_owned());
    }
    let reference = value_of(request, b"tx_ref=").context("no reference is asked for")?;
    let reference = std::str::from_utf8(reference)?;
    Ok(format!(
        r#"{{"status":"success","data":{{"id":7,"status":"successful","tx_ref":"{reference}","amount":{TOTAL_NAIRA},"currency":"NGN"}}}}"#
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payment_is_found_by_its_reference() {
        let request =
            b"GET /v3/transactions/verify_by_reference?tx_ref=ogene-7 HTTP/1.1\r\nHost: a\r\n\r\n";
        let found = answer_to(request).expect("a payment");
        assert!(
            found.contains(r#""tx_ref":"ogene-7","amount":1075,"#),
            "{found}"
        );
        assert_eq!(
            answer_to(b"POST /v3/payments HTTP/1.1\r\n\r\n").expect("a page"),
            PAGE
        );
        assert!(answer_to(b"GET / HTTP/1.1\r\n\r\n").is_err());
    }
}
