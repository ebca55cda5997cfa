//! The binary `ogene`: configuration, HTTP API, commands. `app` is the only place where parts are joined.

pub mod app;
pub mod commands;
pub mod config;
pub mod http;
mod logs;
mod written;
