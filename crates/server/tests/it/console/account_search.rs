//! The search for accounts by operators.

use super::{Browser, member};
use crate::kit::http::Answer;
use crate::kit::{Ogene, operations};
use domain::AccountId;
use domain::user::role::Role;

const PATH: &str = "/operator/accounts";

/// Returns the page of a search.
async fn searched(operator: &mut Browser, query: &str) -> Answer {
    let page = operator.get(&format!("{PATH}?search={query}")).await;
    assert_eq!(page.status, 200, "{}", page.text());
    page
}

async fn create(ogene: &Ogene, name: &str, email: &str) -> AccountId {
    let store = ogene.store().await;
    let made = operations(&store).accounts().create(name, email).await;
    store.close().await;
    made.expect("an account").id
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_finds_accounts_by_name_address_or_id() {
    let ogene = Ogene::start().await;
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    let fresh = create(&ogene, "Kano Fresh", "ada@market.example").await;
    let sons = create(&ogene, "Ọlá <b> Sons", "sales@lagos.example").await;
    let [fresh, sons] = [fresh, sons].map(|id| format!("{PATH}/{id}\""));
    let id = fresh.trim_start_matches(PATH).trim_matches(['/', '"']);
    for (query, finds) in [
        ("kano", [true, false]),
        ("MARKET", [true, false]),
        ("%E1%BB%8Cl%C3%A1", [false, true]),
        ("%40lagos", [false, true]),
        ("example", [true, true]),
        (id, [true, false]),
        ("%25", [false, false]),
        ("", [true, true]),
    ] {
        let page = searched(&mut operator, query).await;
        let found = [&fresh, &sons].map(|path| page.text().contains(path.as_str()));
        assert_eq!(found, finds, "{query}: {}", page.text());
        assert!(!page.text().contains("<b>"), "{}", page.text());
    }
    let page = searched(&mut operator, "%22%3E%3Cb%3E").await;
    for part in ["No account fits", "value=\"&#34;&#62;&#60;b&#62;\""] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_reads_a_bounded_number_of_accounts_for_a_page() {
    let ogene = Ogene::start().await;
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    ogene.sql(
        "insert into accounts (account_id, email, name, status, verification, created_at_ms)
         with recursive n (i) as (select 1 union all select i + 1 from n where i < 5500)
         select i, 'x@example.ng', case when i = 1 then 'The oldest' else 'Another' end,
         'active', 'verified', 0 from n",
    );
    let page = searched(&mut operator, "oldest").await;
    assert!(
        page.text().contains("No newer account fits"),
        "{}",
        page.text()
    );
    let (_, rest) = page
        .text()
        .split_once("search=oldest&#38;cursor=")
        .expect("a next page");
    let cursor = rest.split('"').next().expect("an end").to_owned();
    let page = searched(&mut operator, &format!("oldest&cursor={cursor}")).await;
    let oldest = format!("href=\"{PATH}/1\"");
    assert!(page.text().contains(&oldest), "{}", page.text());
    assert!(!page.text().contains("cursor="), "{}", page.text());
    // The cursor belongs to its search.
    let other = format!("{PATH}?search=another&cursor={cursor}");
    assert_eq!(operator.get(&other).await.status, 422);
    // A whole id finds its account at once.
    assert!(searched(&mut operator, "1").await.text().contains(&oldest));
    // Such accounts have no wallet, which the check of the books would report.
    ogene.sql("delete from accounts where account_id <= 5500");
    ogene.end().await;
}
