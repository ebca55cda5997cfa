//! Jasmin's console (jCli), over which it is configured.

use anyhow::{Context, Result, bail};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The prompt of the console, and that within a command of several lines.
const PROMPTS: [&[u8]; 2] = [b"jcli : ", b"> "];
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection to the console.
pub(super) struct Console {
    stream: TcpStream,
}

impl Console {
    pub(super) async fn open(address: SocketAddr) -> Result<Self> {
        let mut console = Self {
            stream: TcpStream::connect(address).await?,
        };
        console.answer().await?;
        Ok(console)
    }

    /// Runs a command of several lines, and saves it.
    pub(super) async fn save(&mut self, lines: &[&str]) -> Result<()> {
        let mut answer = String::new();
        for line in lines.iter().chain(&["ok"]) {
            answer = self.run(line).await?;
        }
        if !answer.contains("Successfully") {
            bail!("Jasmin answers to {lines:?}: {answer}");
        }
        Ok(())
    }

    /// Runs a line. Returns the answer.
    pub(super) async fn run(&mut self, line: &str) -> Result<String> {
        self.stream
            .write_all(format!("{line}\r\n").as_bytes())
            .await?;
        self.answer().await
    }

    /// Reads up to the next prompt.
    async fn answer(&mut self) -> Result<String> {
        let mut octets = Vec::new();
        while !PROMPTS.iter().any(|prompt| octets.ends_with(prompt)) {
            let read = timeout(ANSWER_TIMEOUT, self.stream.read_buf(&mut octets));
            let read = read.await.with_context(|| {
                let text = String::from_utf8_lossy(&octets);
                format!("Jasmin's console has no prompt: {text}")
            })?;
            if read? == 0 {
                bail!("Jasmin closed its console");
            }
        }
        Ok(String::from_utf8_lossy(&octets).into_owned())
    }
}
