//! The screens of the console: server-rendered HTML with its styles, script and charts.
//!
//! Everything here is pure. A screen is a struct that holds what it shows, and [`html`] turns it
//! into text. The server reads the state through the engine, fills the struct and answers with the
//! text. [`ASSETS`] are the files that a screen loads. The design system is in
//! `docs/console-design.md`.

mod asset;
pub mod chart;
pub mod figures;
mod navigation;
pub mod parts;
mod role;
pub mod screens;
mod shell;

#[cfg(test)]
mod tests;

pub use askama::Template;
pub use asset::{ASSETS, Asset, asset};
pub use navigation::Section;
pub use role::role_name;
pub use shell::{Notice, Shell, Theme};

/// The content security policy of every screen. No screen has an inline style or script.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; \
     script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; \
     base-uri 'none'; frame-ancestors 'none'";

/// Returns the HTML of a screen or of a part.
///
/// The templates have no fallible filter, so rendering into memory cannot fail.
pub fn html(screen: &impl askama::Template) -> String {
    screen.render().unwrap_or_default()
}
