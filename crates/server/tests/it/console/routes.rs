//! Each route as each role, and for things of another account.

use super::{Browser, member, token};
use crate::kit::Ogene;
use domain::user::UserId;
use domain::user::role::{Permission, Role};
use server::http::{Access, Route, routes};

/// The path of a route with an id that belongs to another account, where it has one.
fn of_another(route: &Route, user: UserId) -> String {
    let path = route.path.replace("{user}", &user.to_string());
    path.replace("{id}", "0000000000000000")
        .replace("{secret}", "x")
        .replace("{file}", "x")
        .replace("{upload}", "7")
}

#[tokio::test(flavor = "multi_thread")]
async fn each_route_is_open_to_its_roles_and_to_no_other_tenant() {
    let ogene = Ogene::start().await;
    let other = ogene.customer("7.00").await;
    let (mut rival, victim) = member(&ogene, Some(other.id), Role::Owner).await;
    let places = Role::OF_ACCOUNT.map(|role| (Some(ogene.shop.id), role));
    for (of, role) in places.into_iter().chain([(None, Role::Operator)]) {
        for route in routes() {
            let Access::Needs(permission) = route.access else {
                continue;
            };
            // Each request has a session of its own, as some end it.
            let (mut browser, _) = member(&ogene, of, role).await;
            let path = of_another(&route, victim);
            let answer = if route.method == "GET" {
                browser.get(&path).await
            } else {
                let token = token(&browser.get("/console/profile").await);
                // An upload has its token in the query.
                let path = format!("{path}?csrf_token={token}");
                browser.post(&path, &[("csrf_token", &token)]).await
            };
            let place = format!("{} {path} {}", route.method, role.as_str());
            assert_eq!(
                answer.status == 403,
                !role.may(permission),
                "{place}: {}",
                answer.status
            );
            assert!(
                answer.status < 500 && answer.status != 401,
                "{place}: {}",
                answer.status
            );
            if route.path.contains("{user}") && role.may(permission) {
                assert!(
                    [404, 422].contains(&answer.status),
                    "{place}: {}",
                    answer.status
                );
            }
        }
    }
    assert_eq!(rival.get("/console/team").await.status, 200);
    // Without a session there is no route but the public ones.
    for route in routes() {
        let answer = if route.method == "GET" {
            Browser::new(&ogene).get(&of_another(&route, victim)).await
        } else {
            Browser::new(&ogene)
                .post(&of_another(&route, victim), &[])
                .await
        };
        if let Access::Needs(_) = route.access {
            assert_eq!(answer.status, 303, "{}", route.path);
        }
    }
    assert!(!Role::Viewer.may(Permission::ManageTeam));
    ogene.end().await;
}
