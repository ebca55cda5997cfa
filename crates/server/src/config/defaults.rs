//! The default file.

/// Every key with its default and its meaning.
pub const DEFAULT: &str = include_str!("default.toml");
