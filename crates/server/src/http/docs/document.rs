//! The text of `/openapi.json`. The first request builds it, because most processes never serve it.

use super::installation::Installation;
use axum::body::Bytes;
use std::sync::{Arc, OnceLock};

/// The description of the interface as this installation offers it.
#[derive(Clone, Debug)]
pub struct Document(Arc<LazyDocument>);

#[derive(Debug)]
struct LazyDocument {
    installation: Installation,
    text: OnceLock<Bytes>,
}

impl Document {
    /// Makes the description of this installation.
    pub fn new(installation: Installation) -> Self {
        Self(Arc::new(LazyDocument {
            installation,
            text: OnceLock::new(),
        }))
    }

    /// Returns the text, which `build` writes the first time.
    pub(super) fn text(&self, build: impl FnOnce(&Installation) -> String) -> Bytes {
        let LazyDocument { installation, text } = &*self.0;
        text.get_or_init(|| build(installation).into()).clone()
    }
}
