//! The binary `ogene`: configuration, HTTP API, commands. `app` is the only place where parts are joined.

pub mod app;
pub mod commands;
pub mod config;
mod format;
pub mod http;
mod logs;
