//! A small SMTP server that keeps the mails it gets.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The login that [`SmtpServer`] takes: `ogene` with the password `hush-hsh`, as `AUTH PLAIN` has it.
const LOGIN: &str = "AG9nZW5lAGh1c2gtaHNo";

/// A mail as the server got it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ReceivedMail {
    /// `true` if the client gave the login.
    pub is_authenticated: bool,
    /// The argument of `MAIL`.
    pub from: String,
    /// The arguments of `RCPT`.
    pub to: Vec<String>,
    /// Header and text, with the encoding of lines undone.
    pub text: String,
}

/// An SMTP server on a port of its own. It refuses every address at `nowhere.ng`.
pub struct SmtpServer {
    address: SocketAddr,
    mails: Arc<Mutex<Vec<ReceivedMail>>>,
}

impl SmtpServer {
    /// Starts a server that runs until the process ends.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let mails: Arc<Mutex<Vec<ReceivedMail>>> = Arc::default();
        let kept = Arc::clone(&mails);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                // A client that goes away ends its thread alone.
                thread::spawn(move || serve(&stream, &kept));
            }
        });
        Self { address, mails }
    }

    /// Returns its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the mails that it got.
    pub fn mails(&self) -> Vec<ReceivedMail> {
        let mails = self.mails.lock().unwrap_or_else(PoisonError::into_inner);
        mails.clone()
    }
}

fn serve(mut stream: &TcpStream, mails: &Mutex<Vec<ReceivedMail>>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    stream.write_all(b"220 localhost\r\n")?;
    let mut mail = ReceivedMail::default();
    while let Some(line) = lines.next().transpose()? {
        let (word, rest) = line.split_once([' ', ':']).unwrap_or((&line, ""));
        let answer = match word.to_ascii_uppercase().as_str() {
            "EHLO" => "250-localhost\r\n250 AUTH PLAIN",
            "AUTH" if rest == format!("PLAIN {LOGIN}") => {
                mail.is_authenticated = true;
                "235 Welcome"
            }
            "AUTH" => "535 Who are you",
            "MAIL" => {
                rest.clone_into(&mut mail.from);
                "250 OK"
            }
            "RCPT" if rest.contains("@nowhere.ng") => "550 No such user",
            "RCPT" => {
                mail.to.push(rest.to_owned());
                "250 OK"
            }
            "DATA" => {
                stream.write_all(b"354 Go on\r\n")?;
                let text = lines.by_ref().map_while(Result::ok);
                let text: Vec<String> = text.take_while(|line| line != ".").collect();
                mail.text = decoded(&text.join("\n"));
                let next = ReceivedMail {
                    is_authenticated: mail.is_authenticated,
                    ..ReceivedMail::default()
                };
                let mut mails = mails.lock().unwrap_or_else(PoisonError::into_inner);
                mails.push(std::mem::replace(&mut mail, next));
                "250 Kept"
            }
            "QUIT" => "221 Bye",
            _ => "500 What",
        };
        stream.write_all(format!("{answer}\r\n").as_bytes())?;
    }
    Ok(())
}

/// Undoes the soft ends of lines and the signs of quoted-printable text.
fn decoded(text: &str) -> String {
    text.replace("=\n", "").replace("=3D", "=")
}
