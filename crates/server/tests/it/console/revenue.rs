//! Revenue by month in the console of operators.

use super::payments::{has, paid, start};
use super::{Browser, leads_to, member};
use crate::kit::http::Request;
use crate::kit::{MTN, to, until};
use domain::user::role::Role;

/// Returns the CSV file of the revenue, once the numbers are added up.
async fn csv(operator: &mut Browser) -> Vec<String> {
    let path = "/operator/revenue.csv";
    let file = until("the numbers are added up", async || {
        let answer = operator.ask(Request::get(path)).await;
        (answer.status == 200).then_some(answer)
    });
    let file = file.await;
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
    file.text().lines().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_revenue_is_what_the_ledger_says() {
    let (provider, ogene) = start().await;
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    paid(&provider, &ogene, 107_500).await;
    let message = ogene.sent_id(to(MTN, "An order")).await;
    let spent = ogene.sql("select sum(-amount) / 10000.0 from ledger where kind = 'charge'");
    let spent: f64 = spent.trim().parse().expect("an amount");
    assert!(spent > 0.0, "{message}");
    // The customer of the tests has a credit of the operator.
    let credited = ogene.sql(
        "select sum(amount) / 10000.0 from ledger where kind = 'credit'
         and reference not like 'ogene-%' and component not like '%bonus'",
    );
    let credited: f64 = credited.trim().parse().expect("an amount");
    operator.get("/operator/revenue").await;
    let lines = csv(&mut operator).await;
    assert_eq!(lines.len(), 13, "{lines:?}");
    let last: Vec<&str> = lines[12].split(',').collect();
    assert_eq!(last[1..4], ["1", "1000.00", "75.00"], "{lines:?}");
    let number = |at: usize| last[at].parse::<f64>().expect("an amount");
    assert!((number(4) - credited).abs() < 1e-9, "{lines:?}");
    let paid_by_bonus = number(7);
    assert!((number(6) - spent).abs() < 1e-9, "{lines:?}");
    assert!(
        (number(9) - (spent - paid_by_bonus)).abs() < 1e-9,
        "{lines:?}"
    );
    let page = operator.get("/operator/revenue").await;
    let account = format!("/operator/accounts/{}", ogene.shop.id);
    has(
        &page,
        &["<svg", "Money in", "₦1,000.00", &account, "revenue.csv"],
    );

    let fields = [("months", "3")];
    let path = "/operator/revenue";
    leads_to(&operator.send(path, path, &fields).await, path);
    until("three months", async || {
        (csv(&mut operator).await.len() == 4).then_some(())
    })
    .await;
    let poll = operator.get("/operator/revenue?part=state").await;
    assert_eq!(poll.header("hx-refresh"), Some("true"));
    ogene.end().await;
}
