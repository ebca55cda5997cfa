//! The screens of limits against fraud.

use super::{NOW_MS, shell};
use crate::parts::{Cell, Column, Confirm, Empty, Table};
use crate::screens::Listing;
use crate::{Section, html};
use domain::user::role::Role;

pub(super) fn all() -> Vec<(&'static str, String)> {
    vec![
        ("paused-blocks", html(&paused_blocks(vec![block()]))),
        ("paused-blocks-empty", html(&paused_blocks(Vec::new()))),
    ]
}

fn block() -> Vec<Cell> {
    let (account, block) = ("1882399170363392", "2348031234***");
    let hidden = [("account", account), ("block", block)];
    let release = Confirm {
        id: "release-0".to_owned(),
        action: "Release".to_owned(),
        title: format!("Release {block}?"),
        text: "Within a second the account may send to the block again, with a count of zero."
            .to_owned(),
        href: "/operator/paused-blocks/release".to_owned(),
        csrf_token: "4nT0kEn".to_owned(),
        hidden: hidden
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        is_dangerous: false,
    };
    vec![
        Cell::Code(block.to_owned()),
        Cell::link(account, format!("/operator/accounts/{account}")),
        Cell::Time(NOW_MS - 600_000),
        Cell::text("29 Nov 2026, 17:56:42"),
        Cell::Changes(vec![release]),
    ]
}

fn paused_blocks(rows: Vec<Vec<Cell>>) -> Listing {
    let table = Table {
        label: "Paused blocks".to_owned(),
        columns: vec![
            Column::text("Block"),
            Column::text("Account"),
            Column::number("Paused"),
            Column::text("Until"),
            Column::number(""),
        ],
        rows,
        now_ms: NOW_MS,
    };
    let empty = Empty::new(
        "No block is paused",
        "A block is paused for an account that sends more than velocity.per_block_per_hour to it.",
    );
    let mut shell = shell("Paused blocks", Section::PausedBlocks);
    shell.role = Role::Operator;
    let mut listing = Listing::new(shell, table, empty);
    listing.lead = "A block is all numbers that differ only in their last three digits. While it \
                    is paused, sends of the account to it are refused."
        .to_owned();
    listing.pager.note = "1 block".to_owned();
    listing
}
