//! SMPP users by the interface: `GET`, `POST` and `DELETE /smpp-users` (docs/spec/smpp-users.md).

use crate::kit::esme::{Esme, User, message, own_address};
use crate::kit::http::Request;
use crate::kit::{Ogene, Setup};
use domain::AccountId;
use domain::smpp_user::{Dialect, SmppLimits, SmppUser};
use serde_json::{Value, json};
use smpp::{BindKind, Command};

const USERS: &str = "/api/v2/smpp-users";

async fn list(ogene: &Ogene, path: &str) -> Value {
    let list = Request::get(path).bearer(&ogene.shop.token);
    ogene.ask(&list).await.json()["data"].take()
}

/// Returns the credentials of a user that was made.
fn credentials(data: &Value) -> User {
    let text = |name: &str| data[name].as_str().expect(name).to_owned();
    User {
        user: SmppUser {
            system_id: text("system_id"),
            account: AccountId(0),
            sandbox: false,
            limits: SmppLimits::default(),
            allowed: "".parse().expect("no range"),
            gateway: None,
            dialect: Dialect::default(),
            created_at_ms: 0,
            revoked_at_ms: None,
        },
        password: text("password"),
    }
}

#[tokio::test]
async fn an_smpp_user_is_shown_once_binds_and_is_revoked() {
    let address = own_address();
    let listen = format!("\"{address}\"");
    let setup = Setup::new().set("smpp_server.listen", &listen);
    let ogene = setup.start().await;
    let post = Request::post(USERS).bearer(&ogene.shop.token);
    let fields = json!({
        "binds": 2, "per_second": "50", "allow": "127.0.0.0/8", "gateway": "2",
        "vendor_statuses": true,
    });
    let post = post.header("idempotency-key", "one").json(&fields);
    let first = ogene.ask(&post).await;
    assert_eq!(first.status, 200, "{}", first.text());
    let again = ogene.ask(&post).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let (mut first, again) = (first.json(), again.json());
    let user = credentials(&first["data"]);
    first["data"]["password"].take();
    assert_eq!(first, again, "a repetition has all but the password");
    let data = &again["data"];
    assert_eq!(
        (&data["binds"], &data["per_second"]),
        (&json!(2), &json!(50))
    );
    assert_eq!(data["gateway"], "direct-corporate");
    assert_eq!(
        (&data["vendor_statuses"], &data["latin_1"]),
        (&json!(true), &json!(false))
    );

    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    esme.submit(message(b"hi")).await.message_id();
    let other = Request::post(USERS).bearer(&ogene.shop.token);
    let other = ogene.ask(&other.json(&json!({}))).await.json();
    let page = list(&ogene, &format!("{USERS}?limit=1")).await;
    assert_eq!(page["items"][0]["system_id"], other["data"]["system_id"]);
    assert_eq!(page["items"][0]["password"], Value::Null);
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    let rest = list(&ogene, &format!("{USERS}?cursor={cursor}")).await;
    assert_eq!(rest["items"], json!([data]));

    let id = &user.user.system_id;
    let revoke = Request::new("DELETE", &format!("{USERS}/{id}"));
    let revoke = revoke.bearer(&ogene.shop.token);
    let revoked = ogene.ask(&revoke).await.json();
    assert_eq!(revoked["data"], json!({"system_id": id}));
    assert_eq!(ogene.ask(&revoke).await.code(), "API-2007");
    let unbind = esme.read().await.expect("an unbind");
    assert_eq!(unbind.command, Command::UNBIND);
    ogene.end().await;
}

#[tokio::test]
async fn a_request_beyond_the_limits_makes_no_smpp_user() {
    let ogene = Ogene::start().await;
    for fields in [
        json!({"binds": 5}),
        json!({"per_second": 101}),
        json!({"gateway": "x"}),
    ] {
        let post = Request::post(USERS).bearer(&ogene.shop.token);
        let answer = ogene.ask(&post.json(&fields)).await;
        assert_eq!(answer.code(), "API-2000", "{fields}");
    }
    let token = Request::post("/api/v2/tokens").bearer(&ogene.shop.token);
    let token = token.json(&json!({"name": "reader", "scopes": "read,send"}));
    let token = ogene.ask(&token).await.json()["data"]["token"].take();
    let post = Request::post(USERS).bearer(token.as_str().expect("a token"));
    assert_eq!(ogene.ask(&post.json(&json!({}))).await.code(), "API-1007");
    assert_eq!(list(&ogene, USERS).await["items"], json!([]));
    ogene.end().await;
}
