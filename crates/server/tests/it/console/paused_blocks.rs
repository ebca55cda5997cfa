//! Paused blocks of numbers in the console of operators.

use super::{leads_to, member};
use crate::kit::http::Answer;
use crate::kit::{Setup, to, until};
use domain::user::role::Role;

const PATH: &str = "/operator/paused-blocks";
const RELEASE: &str = "/operator/paused-blocks/release";
const BLOCK: &str = "2348031234***";

fn has(page: &Answer, parts: &[&str]) {
    assert_eq!(page.status, 200, "{}", page.text());
    for part in parts {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_releases_a_paused_block_with_an_audit_entry() {
    let setup = Setup::new().set("velocity.per_block_per_hour", "1");
    let ogene = setup.start().await;
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    has(&operator.get(PATH).await, &["No block is paused"]);
    ogene.sent(to("2348031234560", "Win")).await;
    let refused = ogene.send(to("2348031234561", "Win")).await;
    assert_eq!(refused.status, 429, "{}", refused.text());
    // A node that has not read the pause yet would keep the count at the release.
    until("the node has read the pause", async || {
        let paused = ogene.metric("ogene_velocity_paused_blocks", &[]).await;
        (paused == 1).then_some(())
    })
    .await;

    let figure = format!("href=\"{PATH}\"><span class=\"figure-label\">Paused blocks</span> ");
    let overview = operator.get("/operator/").await;
    let (_, rest) = overview.text().split_once(&figure).expect("a figure");
    assert!(
        rest.starts_with("<span class=\"figure-value\">1<"),
        "{rest}"
    );
    let account = ogene.shop.id.to_string();
    has(&operator.get(PATH).await, &[BLOCK, &account, "Release"]);

    let other = ogene.customer("5.00").await.id.to_string();
    for (of, block, reason) in [
        (&*other, BLOCK, "is not paused for the account"),
        (&*account, "2348031235", "is not paused for the account"),
        (&*account, "x", "Choose a block."),
    ] {
        let fields = [("account", of), ("block", block)];
        leads_to(&operator.send(PATH, RELEASE, &fields).await, PATH);
        has(&operator.get(PATH).await, &[BLOCK, reason]);
    }
    let fields = [("account", &*account), ("block", BLOCK)];
    leads_to(&operator.send(PATH, RELEASE, &fields).await, PATH);
    has(
        &operator.get(PATH).await,
        &["2348031234*** is released", "No block is paused"],
    );
    let audit = operator.get("/operator/audit").await;
    has(&audit, &["velocity.release", "velocity.pause", BLOCK]);
    until("the block is open", async || {
        let answer = ogene.send(to("2348031234561", "Win")).await;
        (answer.status == 200).then_some(())
    })
    .await;
    ogene.end().await;
}
