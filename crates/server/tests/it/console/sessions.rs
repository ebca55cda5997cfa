//! The end of sessions.

use super::{leads_to, member};
use crate::kit::http::Request;
use crate::kit::{Ogene, operations};
use domain::user::UserStatus;
use domain::user::role::Role;

/// Another process that ends a session in the database, as another node does, needs no word to this
/// one.
#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_was_disabled_elsewhere_is_out_at_once() {
    let ogene = Ogene::start().await;
    let (mut browser, _) = member(&ogene, Some(ogene.shop.id), Role::Developer).await;
    assert_eq!(browser.get("/console/").await.status, 200);
    let email = format!("developer-{}@example.ng", ogene.shop.id);
    let store = ogene.store().await;
    let users = operations(&store).users();
    users
        .set_status(&email, UserStatus::Disabled)
        .await
        .expect("done");
    store.close().await;
    let kept = browser.session();
    leads_to(
        &browser.get("/console/").await,
        "/sign-in?next=%2Fconsole%2F",
    );
    // A script on a page is told by the status, and does not follow to a form.
    browser.cookies.insert("ogene".to_owned(), kept);
    let partial = browser
        .ask(Request::get("/console/").header("HX-Request", "true"))
        .await;
    assert_eq!(partial.status, 401);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_when_it_is_unused_or_from_another_browser() {
    let ogene = Ogene::start().await;
    let (mut one, user) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let (mut other, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let page = one.get("/console/profile").await;
    let id = page
        .text()
        .split("/console/profile/sessions/")
        .find_map(|part| part.split_once("/end\""));
    let id = id.expect("the other session").0.to_owned();
    let end = format!("/console/profile/sessions/{id}/end");
    leads_to(
        &one.send("/console/profile", &end, &[]).await,
        "/console/profile",
    );
    assert!(
        one.get("/console/profile")
            .await
            .text()
            .contains("The session has ended.")
    );
    assert_eq!(other.get("/console/").await.status, 303);
    // Nobody ends the session of somebody else.
    let (mut stranger, _) = member(&ogene, None, Role::Operator).await;
    let store = ogene.store().await;
    let all = store.sessions().of_user(user, 0).await.expect("sessions");
    store.close().await;
    let end = format!(
        "/console/profile/sessions/{}/end",
        engine::session_id(&all[0])
    );
    stranger.send("/console/profile", &end, &[]).await;
    assert_eq!(one.get("/console/").await.status, 200);
    ogene.clock.set(ogene.clock.now_ms() + 13 * 3_600_000);
    assert_eq!(one.get("/console/").await.status, 303);
    ogene.end().await;
}
