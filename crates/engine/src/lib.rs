//! engine

pub mod callback;
