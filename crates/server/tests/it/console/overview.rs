//! The overview of a customer.

use super::member;
use crate::kit::{MTN, Ogene, to};
use domain::user::role::Role;

#[tokio::test(flavor = "multi_thread")]
async fn the_overview_has_the_numbers_of_its_account_alone() {
    let ogene = Ogene::start().await;
    let id = ogene.sent_id(to(MTN, "Fresh tomatoes <b>today</b>")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    let (mut viewer, _) = member(&ogene, Some(ogene.shop.id), Role::Viewer).await;
    for path in [
        "/console/",
        "/console/?period=7d&measure=delivered",
        "/console/?period=30d&measure=spend",
    ] {
        let page = viewer.get(path).await;
        assert_eq!(page.status, 200);
        for part in [
            "Fresh tomatoes &#60;b&#62;",
            "100.0 %",
            "MTN",
            "Numbers as a table",
        ] {
            assert!(page.text().contains(part), "{path} {part}: {}", page.text());
        }
        assert!(
            !page.text().contains("\"/console/send\""),
            "a viewer sends nothing"
        );
    }
    let part = viewer.get("/console/?period=7d&part=numbers").await;
    let is_part = part.text().contains("id=\"numbers\"") && !part.text().contains("<html");
    assert!(is_part, "{}", part.text());
    let other = ogene.customer("5.00").await;
    let (mut owner, _) = member(&ogene, Some(other.id), Role::Owner).await;
    let page = owner.get("/console/").await;
    let shown = ["No messages yet", "₦5<small>.00", "/console/send"];
    for part in shown {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    assert!(!page.text().contains("Fresh tomatoes"));
    ogene.end().await;
}
