//! Groups of contacts in the console.

use super::{Browser, ORIGIN, leads_to, member, token};
use crate::kit::http::{Answer, Request};
use crate::kit::{AIRTEL, GLO, MTN, Ogene};
use domain::user::role::Role;

const PATH: &str = "/console/contacts";
const FILE: &str = "Name;Phone\r\nUche;08021234567\r\nZik;0803\r\nAda;08031234567\r\n";

fn shows(page: &Answer, parts: &[&str]) {
    assert_eq!(page.status, 200, "{}", page.text());
    for part in parts {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
}

/// Creates a group. Returns the path of its page, and the path of the page that adds contacts.
async fn created(browser: &mut Browser, name: &str) -> (String, String) {
    let new = format!("{PATH}/new");
    let answer = browser.send(&new, PATH, &[("name", name)]).await;
    let add = answer.header("location").expect("a group").to_owned();
    let group = add.strip_suffix("/add").expect("a group").to_owned();
    (group, add)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_is_filled_sent_to_and_removed() {
    let ogene = Ogene::start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    shows(&owner.get(PATH).await, &["No groups yet", "Create a group"]);
    let new = format!("{PATH}/new");
    let name = [("name", "Kano <customers>")];
    let (group, add) = created(&mut owner, name[0].1).await;
    let again = owner.send(&new, PATH, &name).await;
    assert_eq!(again.status, 422);
    assert!(
        again.text().contains("of this name already"),
        "{}",
        again.text()
    );

    let typed = [("contacts", "08031234567, Ada <b>Obi\nnobody 1")];
    leads_to(&owner.send(&add, &add, &typed).await, &group);
    let page = owner.get(&group).await;
    shows(
        &page,
        &[
            MTN,
            "Ada &#60;b&#62;Obi",
            "1 contact was added.",
            "Row 2 has no number",
        ],
    );
    let none = owner.send(&add, &add, &[("contacts", "Ada")]).await;
    assert_eq!(none.status, 422);
    assert!(
        none.text().contains("There is no number in it"),
        "{}",
        none.text()
    );

    let secret = token(&owner.get(&add).await);
    let to = format!("{group}/file?csrf_token={secret}");
    let request = Request::post(&to).header("Origin", ORIGIN);
    let uploaded = owner.ask(request.multipart(&[("file", FILE)])).await;
    leads_to(&uploaded, &group);
    let page = owner.get(&group).await;
    shows(
        &page,
        &[
            AIRTEL,
            "Uche",
            "had 1 of the numbers",
            "Row 3 has no number",
        ],
    );

    let draft = owner.get(&format!("{group}/send")).await;
    shows(&draft, &[MTN, AIRTEL, "the 2 contacts of Kano"]);
    let remove = format!("{group}/contacts/remove");
    let one = [("number", AIRTEL)];
    leads_to(&owner.send(&group, &remove, &one).await, &group);
    let page = owner.get(&group).await;
    assert!(!page.text().contains(AIRTEL), "{}", page.text());
    let absent = owner.send(&group, &remove, &[("number", GLO)]).await;
    assert_eq!(absent.status, 404);

    let removed = owner.send(PATH, &format!("{group}/remove"), &[]).await;
    leads_to(&removed, PATH);
    shows(
        &owner.get(PATH).await,
        &["No groups yet", "The group was removed."],
    );
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_is_changed_by_its_account_alone() {
    let ogene = Ogene::start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let (group, add) = created(&mut owner, "Kano").await;
    leads_to(&owner.send(&add, &add, &[("contacts", MTN)]).await, &group);
    // A viewer reads and changes nothing, and another account sees nothing.
    let (mut viewer, _) = member(&ogene, Some(ogene.shop.id), Role::Viewer).await;
    let page = viewer.get(&group).await;
    shows(&page, &[MTN]);
    for absent in ["/send", "/add", "remove"] {
        assert!(
            !page.text().contains(&format!("{group}{absent}")),
            "{absent}"
        );
    }
    assert_eq!(viewer.get(&add).await.status, 403);
    let other = ogene.customer("5.00").await;
    let (mut rival, _) = member(&ogene, Some(other.id), Role::Owner).await;
    for path in ["", "/add", "/send"] {
        let path = format!("{group}{path}");
        assert_eq!(rival.get(&path).await.status, 404, "{path}");
    }
    for (path, field) in [
        ("remove", ("x", "")),
        ("contacts/remove", ("number", MTN)),
        ("add", ("contacts", GLO)),
    ] {
        let path = format!("{group}/{path}");
        let refused = rival.send("/console/profile", &path, &[field]).await;
        assert_eq!(refused.status, 404, "{path}");
    }
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_of_many_contacts_has_pages() {
    let ogene = Ogene::start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let (group, add) = created(&mut owner, "Kano").await;
    let numbers: Vec<String> = (0..60).map(|one| format!("23480312345{one:02}")).collect();
    let typed = numbers.join("\n");
    leads_to(
        &owner.send(&add, &add, &[("contacts", &typed)]).await,
        &group,
    );
    let first = owner.get(&group).await;
    shows(&first, &[&numbers[0], &numbers[49], "60 contacts"]);
    assert!(!first.text().contains(&numbers[50]), "{}", first.text());
    let text = first.text();
    let next = text.split(&format!("{group}?cursor=")).nth(1);
    let cursor = next.and_then(|next| next.split('"').next());
    let cursor = cursor.expect("a second page").to_owned();
    assert!(!numbers.iter().any(|one| cursor.contains(one)), "{cursor}");
    let second = owner.get(&format!("{group}?cursor={cursor}")).await;
    shows(&second, &[&numbers[50], &numbers[59], "60 contacts"]);
    assert!(!second.text().contains(&numbers[49]), "{}", second.text());
    let other = owner.get(&format!("{group}?cursor=x")).await;
    assert_eq!(other.status, 422, "{}", other.text());
    ogene.end().await;
}
