//! The blocks of numbers that are paused for an account, and their release, for operators.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::account_parts::path;
use super::lists::{confirm, request};
use super::shared::pager;
use console::Section;
use console::figures::time;
use console::parts::{Cell, Column, Empty, Table};
use console::screens::Listing;
use domain::search::MAX_LIMIT;
use domain::velocity::Block;
use engine::operators::{PageRequest, PausedBlock};

const PATH: &str = "/operator/paused-blocks";
const RELEASE: &str = "/operator/paused-blocks/release";

/// Returns the number of paused blocks, up to those of the longest page.
pub(super) async fn count(visitor: &Visitor) -> Result<u64, Failure> {
    let page = PageRequest::new(MAX_LIMIT, None);
    let paused = visitor.operations().velocity().paused(&page).await?;
    Ok(paused.items.len() as u64)
}

/// `GET /operator/paused-blocks`.
pub(super) async fn list(visitor: Visitor) -> Answered {
    let velocity = visitor.operations().velocity();
    let page = velocity.paused(&request(&visitor)).await?;
    let rows = page.items.iter().enumerate();
    let table = Table {
        label: "Paused blocks".to_owned(),
        columns: vec![
            Column::text("Block"),
            Column::text("Account"),
            Column::number("Paused"),
            Column::text("Until"),
            Column::number(""),
        ],
        rows: rows.map(|(index, one)| row(&visitor, index, one)).collect(),
        now_ms: visitor.now_ms(),
    };
    let empty = Empty::new(
        "No block is paused",
        "A block is paused for an account that sends more than velocity.per_block_per_hour to it.",
    );
    let shell = visitor.shell("Paused blocks", Section::PausedBlocks);
    let mut listing = Listing::new(shell, table, empty);
    listing.lead = String::from(
        "A block is all numbers that differ only in their last three digits. While it is paused, \
         sends of the account to it are refused.",
    );
    listing.pager = pager(PATH, visitor.query(), &[], &page, "block");
    Ok(visitor.answer(&listing))
}

fn row(visitor: &Visitor, index: usize, one: &PausedBlock) -> Vec<Cell> {
    let (account, block) = (one.account.to_string(), one.block.to_string());
    let release = confirm(
        visitor,
        (&format!("release-{index}"), "Release"),
        (
            &format!("Release {block}?"),
            "Within a second the account may send to the block again, with a count of zero.",
        ),
        RELEASE,
        &[("account", &account), ("block", &block)],
    );
    vec![
        Cell::Code(block),
        Cell::link(account, path(one.account)),
        Cell::Time(one.paused_at_ms),
        Cell::text(time(one.until_ms)),
        Cell::Changes(vec![release]),
    ]
}

/// `POST /operator/paused-blocks/release`.
pub(super) async fn release(visitor: Visitor, fields: Form) -> Answered {
    let account = fields.get("account").parse().ok();
    let block = fields.get("block").parse::<Block>().ok();
    let (Some(account), Some(block)) = (account, block) else {
        return Ok(visitor.refused(PATH, "Choose a block."));
    };
    let released = visitor.operations().velocity().release(account, block);
    let text = format!("{block} is released. The account may send to it again.");
    visitor.after(released.await, PATH, &text)
}
