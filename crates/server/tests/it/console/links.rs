//! One-time links: set-up, invitation and reset.

use super::{Browser, PASSWORD, leads_to, member, with_password};
use crate::kit::{Ogene, operations};
use domain::user::role::Role;

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_used_by_its_button_and_once() {
    let ogene = Ogene::start().await;
    let store = ogene.store().await;
    let set_up = operations(&store)
        .users()
        .set_up_link()
        .await
        .expect("a link");
    let set_up = set_up.expect("no operator yet");
    store.close().await;
    let path = format!("/links/{}", set_up.secret.text());
    // A scanner of mail opens it, as often as it likes.
    for _ in 0..3 {
        let page = Browser::new(&ogene).get(&path).await;
        assert_eq!(page.status, 200);
        assert!(page.text().contains("first operator"));
    }
    let mut browser = Browser::new(&ogene);
    let short = [
        ("email", "ada@example.ng"),
        ("name", "Ada"),
        ("password", "short"),
    ];
    let refused = browser.open(&set_up, &short).await;
    assert!(refused.status == 422 && refused.text().contains("at least 12 characters"));
    let fields = [
        ("email", "ada@example.ng"),
        ("name", "Ada"),
        ("password", PASSWORD),
    ];
    leads_to(&browser.open(&set_up, &fields).await, "/operator/");
    assert_eq!(browser.get("/operator/").await.status, 200);
    let again = Browser::new(&ogene).get(&path).await;
    assert!(again.status == 422 && again.text().contains("was used already"));
    // A form that was loaded before the use is refused as well.
    let late = browser.post(&path, &[("csrf_token", "x")]).await;
    assert_eq!(late.status, 403);
    let store = ogene.store().await;
    let none = operations(&store)
        .users()
        .set_up_link()
        .await
        .expect("an answer");
    assert!(none.is_none());
    store.close().await;
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_ends_in_time_and_an_unknown_one_is_none() {
    let ogene = Ogene::start().await;
    with_password(&ogene, "ada@example.ng", None, Role::Operator).await;
    let store = ogene.store().await;
    let (_, link) = operations(&store)
        .users()
        .reset("ada@example.ng")
        .await
        .expect("a link");
    store.close().await;
    let path = format!("/links/{}", link.secret.text());
    let mut browser = Browser::new(&ogene);
    assert_eq!(browser.get(&path).await.status, 200);
    ogene.clock.set(ogene.clock.now_ms() + 31 * 60_000);
    let late = browser.get(&path).await;
    assert!(late.status == 422 && late.text().contains("has expired"));
    for unknown in ["/links/x", &format!("/links/{}", "A".repeat(43))] {
        assert_eq!(browser.get(unknown).await.status, 404);
    }
    leads_to(
        &browser.sign_in("ada@example.ng", PASSWORD).await,
        "/operator/",
    );
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_invites_and_a_stranger_joins() {
    let ogene = Ogene::start().await;
    let (mut owner, owner_id) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let fields = [("email", "Uche@example.ng"), ("role", "developer")];
    let page = owner
        .send("/console/team", "/console/team/invite", &fields)
        .await;
    let link = page.text().split("/links/").nth(1).expect("a link");
    let path = format!("/links/{}", link.split('<').next().expect("an end"));
    let mut uche = Browser::new(&ogene);
    let joined = [("name", "Uche"), ("password", PASSWORD)];
    leads_to(&uche.send(&path, &path, &joined).await, "/console/");
    assert_eq!(uche.get("/console/team").await.status, 403);
    assert!(
        owner
            .get("/console/team")
            .await
            .text()
            .contains("uche@example.ng")
    );
    // A user who is known joins another account only while signed in.
    let other = ogene.customer("5.00").await;
    let store = ogene.store().await;
    let users = operations(&store).users();
    let (_, link) = users
        .invite("uche@example.ng", Some(other.id), Role::Viewer)
        .await
        .expect("a link");
    store.close().await;
    let path = format!("/links/{}", link.secret.text());
    let asked = Browser::new(&ogene).get(&path).await;
    leads_to(&asked, &format!("/sign-in?next={path}"));
    leads_to(&uche.send(&path, &path, &[]).await, "/console/");
    assert!(uche.get("/console/").await.text().contains("₦5"));
    let back = [("account", &*ogene.shop.id.to_string())];
    leads_to(
        &uche
            .send("/console/profile", "/console/profile/account", &back)
            .await,
        "/console/",
    );
    assert!(uche.get("/console/").await.text().contains("₦1,000"));
    let stranger = [("account", "4711")];
    let refused = uche
        .send("/console/profile", "/console/profile/account", &stranger)
        .await;
    assert_eq!(refused.status, 422);
    // The last owner stays.
    let remove = format!("/console/team/{owner_id}/remove");
    leads_to(
        &owner.send("/console/team", &remove, &[]).await,
        "/console/team",
    );
    assert!(
        owner
            .get("/console/team")
            .await
            .text()
            .contains("last owner")
    );
    ogene.end().await;
}
