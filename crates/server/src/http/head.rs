//! The limits of the head of a request.

/// Maximum length of the head in bytes, over HTTP/1.1 and HTTP/2. A text of emoji in a query string
/// needs as much.
pub(super) const MAX_HEAD_BYTES: u32 = 64 << 10;
/// Headers of a request. Proxies and gateways add some to the headers of the client.
pub(super) const MAX_HEADERS: usize = 256;
