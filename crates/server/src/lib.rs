//! The binary `ogene`: configuration, HTTP API, commands. Only `app` joins the parts.

pub mod app;
pub mod commands;
pub mod config;
mod explanation;
mod format;
pub mod http;
mod link_mail;
mod logs;
mod smpp_server;
