//! An authenticator in software: it makes passkeys and signs challenges as a browser passes them on.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use rcgen::{KeyPair, PublicKeyData as _, SigningKey as _};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The flags of the authenticator: the user was present, and was verified.
pub(super) const PRESENT: u8 = 0x01;
pub(super) const VERIFIED: u8 = 0x04;
/// The answer has a new public key.
const HAS_KEY: u8 = 0x40;

/// An authenticator with one passkey. A test changes what it says.
pub(super) struct Authenticator {
    key: KeyPair,
    pub(super) credential: Vec<u8>,
    /// The handle of the user, as the options of the passkey named it.
    pub(super) handle: Vec<u8>,
    pub(super) counter: u32,
    pub(super) origin: &'static str,
    pub(super) site: &'static str,
    pub(super) flags: u8,
    pub(super) is_cross_origin: bool,
}

impl Authenticator {
    pub(super) fn new(seed: u8) -> Self {
        Self {
            key: KeyPair::generate().expect("a key"),
            credential: vec![seed; 32],
            handle: Vec::new(),
            counter: 0,
            origin: "http://localhost",
            site: "localhost",
            flags: PRESENT | VERIFIED,
            is_cross_origin: false,
        }
    }

    /// Undoes what a test changed, but for passkey, user and counter.
    pub(super) fn mend(&mut self) {
        (self.origin, self.site) = ("http://localhost", "localhost");
        (self.flags, self.is_cross_origin) = (PRESENT | VERIFIED, false);
    }

    /// Replaces the key. Answers have a wrong signature then.
    pub(super) fn forge(&mut self) {
        self.key = KeyPair::generate().expect("a key");
    }

    fn client_data(&self, kind: &str, options: &Value) -> String {
        json!({
            "type": kind,
            "challenge": options["challenge"],
            "origin": self.origin,
            "crossOrigin": self.is_cross_origin,
        })
        .to_string()
    }

    fn authenticator_data(&mut self, flags: u8) -> Vec<u8> {
        let mut data = Sha256::digest(self.site).to_vec();
        data.push(self.flags | flags);
        data.extend(self.counter.to_be_bytes());
        data
    }

    /// Makes the passkey that options ask for. Returns the answer.
    pub(super) fn make(&mut self, options: &Value) -> String {
        let handle = options["user"]["id"].as_str().expect("a handle");
        self.handle = BASE64.decode(handle).expect("base64");
        let mut data = self.authenticator_data(HAS_KEY);
        data.extend([0; 16]);
        let length = u16::try_from(self.credential.len()).expect("a short id");
        data.extend(length.to_be_bytes());
        data.extend(&self.credential);
        // The key as COSE: EC2, ES256, P-256, x and y.
        let point = self.key.der_bytes();
        data.extend([0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]);
        data.extend(&point[1..33]);
        data.extend([0x22, 0x58, 0x20]);
        data.extend(&point[33..65]);
        // {"fmt": "none", "attStmt": {}, "authData": data} as CBOR.
        let mut object = vec![0xA3, 0x63];
        object.extend(b"fmt\x64none\x67attStmt\xA0\x68authData\x58");
        object.push(u8::try_from(data.len()).expect("a short text"));
        object.extend(&data);
        let client = self.client_data("webauthn.create", options);
        self.answer(&json!({
            "clientDataJSON": BASE64.encode(client),
            "attestationObject": BASE64.encode(object),
            "transports": ["internal"],
        }))
    }

    /// Signs the challenge of options. Returns the answer.
    pub(super) fn sign(&mut self, options: &Value) -> String {
        self.sign_as("webauthn.get", options)
    }

    pub(super) fn sign_as(&mut self, kind: &str, options: &Value) -> String {
        self.counter += 1;
        let (data, client) = (self.authenticator_data(0), self.client_data(kind, options));
        let signed = [&data[..], &Sha256::digest(&client)].concat();
        let signature = self.key.sign(&signed).expect("a signature");
        self.answer(&json!({
            "clientDataJSON": BASE64.encode(client),
            "authenticatorData": BASE64.encode(data),
            "signature": BASE64.encode(signature),
            "userHandle": BASE64.encode(&self.handle),
        }))
    }

    fn answer(&self, response: &Value) -> String {
        let id = BASE64.encode(&self.credential);
        json!({
            "id": id,
            "rawId": id,
            "type": "public-key",
            "response": response,
            "clientExtensionResults": {},
            "authenticatorAttachment": "platform",
        })
        .to_string()
    }
}
