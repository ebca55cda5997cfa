//! The first steps of an operator on a fresh installation.

use super::{Browser, PASSWORD, leads_to};
use crate::kit::{Setup, operations, until};

const STEPS: &str = "/operator/first-steps";

#[tokio::test(flavor = "multi_thread")]
async fn a_first_operator_sends_to_a_simulated_phone() {
    let ogene = Setup::new().without_customer().start().await;
    let store = ogene.store().await;
    let users = operations(&store).users();
    let link = users
        .set_up_link()
        .await
        .expect("a link")
        .expect("no operator yet");
    store.close().await;
    let mut browser = Browser::new(&ogene);
    let fields = [
        ("email", "ada@example.ng"),
        ("name", "Ada"),
        ("password", PASSWORD),
    ];
    leads_to(&browser.open(&link, &fields).await, "/operator/");
    leads_to(&browser.get("/operator/").await, STEPS);
    for (name, sender) in [("Ada Stores", "far too long a name"), ("", "AdaStores")] {
        let fields = [("name", name), ("sender", sender)];
        let refused = browser.send(STEPS, STEPS, &fields).await;
        assert_eq!(refused.status, 422, "{}", refused.text());
        leads_to(&browser.get("/operator/").await, STEPS);
    }
    let fields = [("name", "Ada Stores"), ("sender", "AdaStores")];
    let created = browser.send(STEPS, STEPS, &fields).await;
    assert_eq!(created.status, 303, "{}", created.text());
    let form = created.header("location").expect("the form").to_owned();
    let page = browser.get(&form).await;
    for part in [
        "Ada Stores",
        "You are in the sandbox",
        "2348031234567",
        "AdaStores",
    ] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    let fields = [
        ("from", "AdaStores"),
        ("to", "2348031234567"),
        ("body", "Hello from the sandbox."),
        ("gateway", "direct-refund"),
    ];
    let review = browser.send(&form, "/console/send/review", &fields).await;
    assert_eq!(review.status, 200, "{}", review.text());
    let sent = browser.send(&form, "/console/send", &fields).await;
    assert_eq!(sent.status, 303, "{}", sent.text());
    until("the phone has it", async || {
        let inbox = browser.get("/console/inbox").await;
        let text = inbox.text();
        (text.contains("Hello from the sandbox.") && text.contains("Delivered")).then_some(())
    })
    .await;
    // The operator returns to the installation, which has an account now.
    let back = [("account", "operator")];
    let path = "/console/profile/account";
    leads_to(
        &browser.send("/console/profile", path, &back).await,
        "/operator/",
    );
    assert_eq!(browser.get("/operator/").await.status, 200);
    ogene.end().await;
}
