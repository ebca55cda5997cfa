//! The parts that screens are made of. Each is a struct that a template shows by `{{ part }}`.

mod badge;
mod confirm;
mod empty;
mod field;
mod figure;
mod pager;
mod share;
mod table;
mod tabs;

pub use badge::{Badge, Tone};
pub use confirm::Confirm;
pub use empty::Empty;
pub use field::{Choice, Field, Kind};
pub use figure::Figure;
pub use pager::Pager;
pub use share::Share;
pub use table::{Cell, Column, Table};
pub use tabs::{Tab, Tabs};

use askama::filters::HtmlSafe;

// Each part is HTML that its own template escaped.
impl HtmlSafe for Badge {}
impl HtmlSafe for Confirm {}
impl HtmlSafe for Empty {}
impl HtmlSafe for Field {}
impl HtmlSafe for Figure {}
impl HtmlSafe for Pager {}
impl HtmlSafe for Share {}
impl HtmlSafe for Table {}
impl HtmlSafe for Tabs {}
