//! Opt-outs and inbound messages in the console.

use super::{leads_to, member};
use crate::kit::{GLO, Ogene};
use domain::user::role::Role;

const PATH: &str = "/console/opt-outs";
const NEW: &str = "/console/opt-outs/new";

#[tokio::test(flavor = "multi_thread")]
async fn a_number_is_added_and_removed_by_those_who_may() {
    let ogene = Ogene::start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let (mut viewer, _) = member(&ogene, Some(ogene.shop.id), Role::Viewer).await;
    assert!(
        owner
            .get(PATH)
            .await
            .text()
            .contains("Nobody has opted out")
    );
    let wrong = owner.send(NEW, PATH, &[("recipient", "12")]).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.text().contains("phone number"), "{}", wrong.text());
    let fields = [("recipient", GLO), ("reason", "asked <by> mail")];
    leads_to(&owner.send(NEW, PATH, &fields).await, PATH);
    let page = viewer.get(PATH).await;
    for part in [GLO, "asked &#60;by&#62; mail"] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    assert!(!page.text().contains("Remove"), "a viewer changes nothing");
    let remove = format!("{PATH}/{GLO}/remove");
    leads_to(&owner.send(PATH, &remove, &[]).await, PATH);
    leads_to(&owner.send(PATH, &remove, &[]).await, PATH);
    let page = owner.get(PATH).await;
    assert!(page.text().contains("has not opted out"), "{}", page.text());
    let inbound = viewer.get("/console/inbound?number=Ogene").await;
    assert!(
        inbound.text().contains("`number` must be"),
        "{}",
        inbound.text()
    );
    for (query, title) in [
        ("", "No inbound messages"),
        ("?number=32811", "No message fits"),
    ] {
        let inbound = viewer.get(&format!("/console/inbound{query}")).await;
        assert!(inbound.text().contains(title), "{}", inbound.text());
    }
    assert_eq!(viewer.get(NEW).await.status, 403);
    let refused = viewer.send(PATH, PATH, &[("recipient", GLO)]).await;
    assert_eq!(refused.status, 403, "a viewer adds nothing");
    ogene.end().await;
}
