//! SMPP users, and the answers to commands of subscribers, in the console.

use super::{leads_to, member};
use crate::kit::Ogene;
use crate::kit::http::Answer;
use domain::user::role::Role;

const PATH: &str = "/console/smpp-users";
const NEW: &str = "/console/smpp-users/new";
const ANSWERS: &str = "/console/inbound/answers";

fn has(page: &Answer, parts: &[&str]) {
    assert_eq!(page.status, 200, "{}", page.text());
    for part in parts {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_smpp_user_is_made_and_revoked_by_its_account() {
    let ogene = Ogene::start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Developer).await;
    let (mut viewer, _) = member(&ogene, Some(ogene.shop.id), Role::Viewer).await;
    has(&viewer.get(PATH).await, &["No SMPP users yet"]);
    for (name, text) in [("per_second", "101"), ("binds", "0"), ("allow", "home")] {
        let refused = owner.send(NEW, PATH, &[(name, text)]).await;
        assert_eq!(refused.status, 422, "{name}: {}", refused.text());
        let named = format!("`{name}`");
        assert!(refused.text().contains(&named), "{}", refused.text());
    }
    let fields = [
        ("binds", "2"),
        ("per_second", ""),
        ("allow", "203.0.113.0/24\n198.51.100.7"),
        ("gateway", "otp"),
        ("latin_1", "yes"),
    ];
    leads_to(&owner.send(NEW, PATH, &fields).await, PATH);
    let made = owner.get(PATH).await;
    has(
        &made,
        &[
            "shown once",
            "2 connections, 100 a second",
            "203.0.113.0/24",
            "Not bound",
        ],
    );
    let (_, rest) = made
        .text()
        .split_once("The password of ")
        .expect("a password");
    let id = rest.split('"').next().expect("an id").to_owned();
    let (_, rest) = rest.split_once("class=\"mono\">").expect("a password");
    let password = rest.split('<').next().expect("an end").to_owned();
    assert_eq!(password.len(), 8, "{password}");
    let again = owner.get(PATH).await;
    assert_eq!(
        again.text().matches("2 connections").count(),
        1,
        "a reload makes no other"
    );
    assert!(!again.text().contains(&password), "it is shown once");
    let page = viewer.get(PATH).await;
    has(&page, &[&id, "otp"]);
    assert!(!page.text().contains(&password), "it is shown once");
    assert!(!page.text().contains("Revoke"), "a viewer changes nothing");
    assert_eq!(viewer.get(NEW).await.status, 403);

    let other = ogene.customer("5.00").await;
    let (mut rival, _) = member(&ogene, Some(other.id), Role::Owner).await;
    let revoke = format!("{PATH}/{id}/revoke");
    assert_eq!(rival.send(PATH, &revoke, &[]).await.status, 404);
    assert!(!rival.get(PATH).await.text().contains(&id));
    leads_to(&owner.send(PATH, &revoke, &[]).await, PATH);
    has(&owner.get(PATH).await, &["was revoked", "Revoked"]);
    assert_eq!(owner.send(PATH, &revoke, &[]).await.status, 404);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_set_by_those_who_may() {
    let ogene = Ogene::start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let (mut viewer, _) = member(&ogene, Some(ogene.shop.id), Role::Viewer).await;
    has(&owner.get("/console/inbound").await, &[ANSWERS]);
    has(&viewer.get(ANSWERS).await, &["No answer"]);
    let texts = [
        ("stop", "You are <out>.\r\nBye"),
        ("start", ""),
        ("help", "Call us"),
    ];
    leads_to(&owner.send(ANSWERS, ANSWERS, &texts).await, ANSWERS);
    let page = viewer.get(ANSWERS).await;
    has(
        &page,
        &["You are &#60;out&#62;.\nBye", "Call us", "No answer"],
    );
    assert!(
        !page.text().contains("Save answers"),
        "a viewer changes nothing"
    );
    let shown = ogene.read("/inbound/answers").await;
    assert_eq!(shown["data"]["stop"], "You are <out>.\nBye", "{shown}");
    let long = "x".repeat(460);
    leads_to(
        &owner.send(ANSWERS, ANSWERS, &[("stop", &long)]).await,
        ANSWERS,
    );
    has(
        &owner.get(ANSWERS).await,
        &["at most 459 characters", "Call us"],
    );
    let refused = viewer.send(ANSWERS, ANSWERS, &texts).await;
    assert_eq!(refused.status, 403);
    ogene.end().await;
}
