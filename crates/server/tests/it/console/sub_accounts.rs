//! Sub-accounts in the console.

use super::{Browser, leads_to, member, token};
use crate::kit::http::{Answer, Request};
use crate::kit::{Customer, MTN, Ogene, SENDER, operations, to};
use crate::sub_accounts::{give, sub_account};
use domain::AccountId;
use domain::user::role::Role;

const PATH: &str = "/console/sub-accounts";
const NEW: &str = "/console/sub-accounts/new";

fn has(page: &Answer, parts: &[&str]) {
    assert_eq!(page.status, 200, "{}", page.text());
    for part in parts {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
}

/// Returns the value of a field of a form.
fn value(page: &Answer, name: &str) -> String {
    let start = format!(" name=\"{name}\"");
    let (_, rest) = page.text().split_once(&start).expect("a field");
    let (_, rest) = rest.split_once("value=\"").expect("a value");
    rest.split('"').next().expect("an end").to_owned()
}

/// Makes a sub-account by the form. Returns the address of its page.
async fn made(owner: &mut Browser) -> String {
    let fields = [("name", "Ada <Foods>"), ("email", "ada@example.ng")];
    leads_to(&owner.send(NEW, PATH, &fields).await, PATH);
    let made = owner.get(PATH).await;
    has(&made, &["Ada &#60;Foods&#62;", "shown once", "ogl_"]);
    let (_, rest) = made
        .text()
        .split_once("href=\"/console/sub-accounts/1")
        .expect("a page");
    format!("{PATH}/1{}", rest.split('"').next().expect("an end"))
}

/// Sends a message of a sub-account. Returns its id.
async fn sent(ogene: &Ogene, sub: &Customer, text: &str) -> String {
    let request = Request::send(&sub.token, &to(MTN, text));
    let answer = ogene.ask(&request).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let id = answer.json()["data"]["message_id"].take();
    id.as_str().expect("an id").to_owned()
}

/// Sends a form of the page of a sub-account. Returns the page after it.
async fn change(owner: &mut Browser, path: &str, last: &str, fields: &[(&str, &str)]) -> Answer {
    let sent = owner.send(path, &format!("{path}/{last}"), fields).await;
    leads_to(&sent, path);
    owner.get(path).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_creates_and_changes_a_sub_account() {
    let ogene = Ogene::start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let empty = ["No sub-accounts yet", "Create a sub-account"];
    has(&owner.get(PATH).await, &empty);
    let wrong = [("name", "Ada"), ("email", "ada")];
    let wrong = owner.send(NEW, PATH, &wrong).await;
    assert_eq!(wrong.status, 422, "{}", wrong.text());
    assert!(wrong.text().contains("not an e-mail address"));
    let path = made(&mut owner).await;
    let page = owner.get(PATH).await;
    has(&page, &["ada@example.ng", "₦0.00", "Active"]);
    assert!(!page.text().contains("ogl_"), "a token is shown once");

    let page = change(&mut owner, &path, "limit", &[("daily_limit", "50.00")]).await;
    has(&page, &["The daily limit was changed.", "₦50.00"]);
    let page = change(&mut owner, &path, "limit", &[("daily_limit", "-1")]).await;
    has(&page, &["must be an amount", "₦50.00"]);

    // The own price of a page is 6 naira.
    let set = [("gateway", "direct-refund"), ("price", "7.25")];
    let page = change(&mut owner, &path, "price", &set).await;
    let shown = ["₦7.25 / ₦14.50", "₦1.25 / ₦2.50"];
    has(&page, &shown);
    has(&page, &["The price was changed."]);
    let low = [("gateway", "direct-refund"), ("price", "5.99")];
    let page = change(&mut owner, &path, "price", &low).await;
    has(&page, &["below your own", shown[0]]);
    let page = change(&mut owner, &path, "price", &set[..1]).await;
    assert!(!page.text().contains("₦7.25"), "{}", page.text());

    let page = change(&mut owner, &path, "status", &[("status", "disabled")]).await;
    has(&page, &["Disabled", "Reactivate"]);
    let page = change(&mut owner, &path, "status", &[("status", "restricted")]).await;
    has(&page, &["must be `active` or `disabled`"]);
    let page = change(&mut owner, &path, "status", &[("status", "active")]).await;
    has(&page, &["Active", "Disable"]);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_that_is_sent_twice_moves_money_once() {
    let ogene = Ogene::start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let path = made(&mut owner).await;
    let page = owner.get(&path).await;
    let (reference, csrf) = (value(&page, "reference"), token(&page));
    assert!(reference.starts_with("console-"), "{reference}");
    let fields = [
        ("direction", "to_sub"),
        ("amount", "100.00"),
        ("reference", reference.as_str()),
        ("csrf_token", csrf.as_str()),
    ];
    let transfer = format!("{path}/transfer");
    for _ in 0..2 {
        leads_to(&owner.post(&transfer, &fields).await, &path);
        let page = owner.get(&path).await;
        has(
            &page,
            &["₦100.00 went to Ada &#60;Foods&#62;", "₦100<small>.00"],
        );
        assert!(!page.text().contains("₦200"), "{}", page.text());
        assert_ne!(
            value(&page, "reference"),
            reference,
            "each form has its own"
        );
    }
    let mut other = fields;
    other[1].1 = "7.00";
    leads_to(&owner.post(&transfer, &other).await, &path);
    has(&owner.get(&path).await, &["was used for another transfer"]);
    let back = [
        ("direction", "from_sub"),
        ("amount", "40.00"),
        ("reference", "back-1"),
    ];
    leads_to(&owner.send(&path, &transfer, &back).await, &path);
    has(
        &owner.get(&path).await,
        &["₦40.00 came back from Ada", "₦60<small>.00"],
    );
    let much = [
        ("direction", "from_sub"),
        ("amount", "60.01"),
        ("reference", "back-2"),
    ];
    leads_to(&owner.send(&path, &transfer, &much).await, &path);
    let page = owner.get(&path).await;
    has(&page, &["₦60<small>.00"]);
    assert!(
        page.text().contains("class=\"notice bad\""),
        "{}",
        page.text()
    );
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_reads_the_messages_of_its_sub_account_alone() {
    let ogene = Ogene::start().await;
    let sub = sub_account(&ogene).await;
    give(&ogene, &sub, "100.00").await;
    let id = sent(&ogene, &sub, "From <Ada>").await;
    let own = ogene.sent_id(to(MTN, "Of the shop")).await;
    let (mut viewer, _) = member(&ogene, Some(ogene.shop.id), Role::Viewer).await;
    let path = format!("{PATH}/{}", sub.id);
    let list = format!("{path}/messages");
    has(&viewer.get(&path).await, &[&list, "direct-refund"]);
    let page = viewer.get(&list).await;
    has(&page, &["From &#60;Ada&#62;", &format!("{list}/{id}")]);
    assert!(!page.text().contains("Of the shop"), "{}", page.text());
    has(&viewer.get(&format!("{list}/{id}")).await, &[MTN, SENDER]);
    has(
        &viewer.get(&format!("{list}/{id}/{MTN}")).await,
        &["Accepted"],
    );
    has(&viewer.get(&format!("{list}.csv")).await, &[&id]);
    leads_to(
        &viewer.get(&format!("{list}?message_id={id}")).await,
        &format!("{list}/{id}"),
    );
    let filtered = viewer.get(&format!("{list}?gateway=otp")).await;
    has(&filtered, &["No message fits"]);
    // The messages of the parent, and those of the sub-account on the pages of the parent.
    for path in [format!("{list}/{own}"), format!("/console/messages/{id}")] {
        assert_eq!(viewer.get(&path).await.status, 404, "{path}");
    }
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_account_finds_no_sub_account_of_a_parent() {
    let ogene = Ogene::start().await;
    let sub = sub_account(&ogene).await;
    give(&ogene, &sub, "100.00").await;
    let id = sent(&ogene, &sub, "From Ada").await;
    let path = format!("{PATH}/{}", sub.id);
    let list = format!("{path}/messages");
    let other = ogene.customer("5.00").await;
    let (mut rival, _) = member(&ogene, Some(other.id), Role::Owner).await;
    for path in [
        path.clone(),
        list.clone(),
        format!("{list}.csv"),
        format!("{list}/{id}"),
        format!("{list}/{id}/{MTN}"),
        format!("{PATH}/{}", ogene.shop.id),
        format!("{PATH}/{}", other.id),
    ] {
        assert_eq!(rival.get(&path).await.status, 404, "{path}");
    }
    for (last, fields) in [
        ("status", [("status", "disabled"), ("", "")]),
        ("limit", [("daily_limit", "1"), ("", "")]),
        ("price", [("gateway", "otp"), ("price", "99")]),
    ] {
        let answer = rival.send(PATH, &format!("{path}/{last}"), &fields).await;
        assert_eq!(answer.status, 404, "{last}");
    }
    let fields = [
        ("direction", "from_sub"),
        ("amount", "1"),
        ("reference", "x"),
    ];
    let stolen = rival.send(PATH, &format!("{path}/transfer"), &fields).await;
    assert_eq!(stolen.status, 404);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_owner_of_a_parent_changes_sub_accounts() {
    let ogene = Ogene::start().await;
    let sub = sub_account(&ogene).await;
    let path = format!("{PATH}/{}", sub.id);
    for role in [Role::Developer, Role::Viewer] {
        let (mut member, _) = member(&ogene, Some(ogene.shop.id), role).await;
        for page in [PATH, &path] {
            let page = member.get(page).await;
            has(&page, &["Ada Foods"]);
            let hidden = ["Create a sub-account", "Set price", "Disable"];
            assert!(
                hidden.iter().all(|text| !page.text().contains(text)),
                "{}",
                page.text()
            );
        }
        assert_eq!(member.get(NEW).await.status, 403);
    }
    // A sub-account sees none of these pages.
    let (mut of_sub, _) = member(&ogene, Some(sub.id), Role::Owner).await;
    let home = of_sub.get("/console/wallet").await;
    assert!(!home.text().contains(PATH), "{}", home.text());
    for page in [PATH, NEW, &path] {
        assert_eq!(of_sub.get(page).await.status, 404, "{page}");
    }
    let fields = [("name", "Mine"), ("email", "mine@example.ng")];
    let refused = of_sub.send("/console/profile", PATH, &fields).await;
    assert_eq!(refused.status, 404);

    // The sandbox shows sub-accounts, and changes none.
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let sandbox = [("environment", "sandbox")];
    owner.send(PATH, "/console/environment", &sandbox).await;
    let page = owner.get(&path).await;
    has(&page, &["Ada Foods", "Switch from Sandbox to Live"]);
    assert!(!page.text().contains("Set price"), "{}", page.text());
    let status = format!("{path}/status");
    leads_to(
        &owner.send(&path, &status, &[("status", "disabled")]).await,
        &path,
    );
    has(&owner.get(&path).await, &["Active"]);
    let refused = owner.send(NEW, PATH, &fields).await;
    assert_eq!(refused.status, 422, "{}", refused.text());
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_names_the_user_who_changed_a_sub_account() {
    let ogene = Ogene::start().await;
    let (mut owner, user) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let path = made(&mut owner).await;
    let price = [("gateway", "otp"), ("price", "99")];
    leads_to(
        &owner.send(&path, &format!("{path}/price"), &price).await,
        &path,
    );
    let fields = [
        ("direction", "to_sub"),
        ("amount", "1"),
        ("reference", "one"),
    ];
    leads_to(
        &owner
            .send(&path, &format!("{path}/transfer"), &fields)
            .await,
        &path,
    );
    let id: AccountId = path
        .rsplit('/')
        .next()
        .expect("an id")
        .parse()
        .expect("an id");
    let store = ogene.store().await;
    let audit = operations(&store).audit();
    let entries = audit
        .list(Some(id), &engine::operators::PageRequest::default())
        .await;
    let entries = entries.expect("entries").items;
    store.close().await;
    let verbs: Vec<&str> = entries.iter().map(|entry| entry.verb.as_str()).collect();
    for verb in [
        "sub-account.create",
        "sub-account.change",
        "sub-account.transfer",
    ] {
        assert!(verbs.contains(&verb), "{verb}: {verbs:?}");
    }
    let actor = format!("user:{user}");
    assert!(
        entries.iter().all(|entry| entry.actor == actor),
        "{entries:?}"
    );
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_sees_parent_sub_accounts_and_margins() {
    let ogene = Ogene::start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    let of_shop = format!("/operator/accounts/{}", ogene.shop.id);
    assert!(!operator.get(&of_shop).await.text().contains("Sub-accounts"));
    let path = made(&mut owner).await;
    let id = path.rsplit('/').next().expect("an id").to_owned();
    let of_sub = format!("/operator/accounts/{id}");
    has(
        &operator.get(&of_shop).await,
        &["Sub-accounts", &of_sub, "Ada &#60;Foods&#62;", ">None<"],
    );
    let price = [("gateway", "direct-refund"), ("price", "7.50")];
    leads_to(
        &owner.send(&path, &format!("{path}/price"), &price).await,
        &path,
    );
    has(
        &operator.get(&of_shop).await,
        &["direct-refund: ₦1.50 / ₦3.00"],
    );
    let page = operator.get(&of_sub).await;
    has(
        &page,
        &[
            "Parent",
            &of_shop,
            "direct-refund: ₦1.50 / ₦3.00",
            "Margin so far",
        ],
    );
    ogene.end().await;
}
