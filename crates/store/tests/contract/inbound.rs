//! Inbound messages: their pages, their repetitions, their routes and the messages.

use domain::inbound::{InboundMessage, InboundRoute};
use domain::search::InboundFilter;
use domain::{AccountId, Environment, MessageId, NodeId};
use store::{
    AddedRoute, ArrivedPage, AttemptOutcome, Callback, Finished, Kept, KeptPages, PageGroup,
    RemovedRoute, RouteOwner,
};
use storekit::{Kit, NOW, by, fresh, message_id, twins};

twins!(
    pages_are_ready_once_all_are_there_or_waited_enough,
    a_repetition_after_the_end_of_its_connection_is_left_out,
    arrivals_are_forgotten_after_a_minute,
    the_pages_of_a_message_go_when_it_is_kept,
    a_list_has_the_messages_of_its_filter_newest_first,
    a_filter_examines_a_maximum_of_messages,
    old_messages_go_after_their_texts,
    a_callback_has_the_text_that_retention_has_left,
    a_number_belongs_to_one_account_for_each_keyword,
    an_account_changes_only_routes_of_its_own_numbers,
    the_own_routes_of_an_account_end_with_its_number,
    an_account_replaces_the_smpp_user_of_a_route_by_a_url,
    routes_at_the_same_time_keep_to_the_maximum,
);

const NODE: NodeId = NodeId(1);
const OTHER_NODE: NodeId = NodeId(2);

/// A page from one sender to one number. Pages with the same text have the same fingerprint.
fn page(number: &str, place: (i64, u8, u8), text: &str) -> ArrivedPage {
    let mut fingerprint = [0; 16];
    for (octet, letter) in fingerprint.iter_mut().zip(text.bytes()) {
        *octet = letter;
    }
    let (reference, total, page) = place;
    ArrivedPage {
        id: fresh(),
        carrier: "mtn".to_owned(),
        sender: "2348031234567".to_owned(),
        number: number.to_owned(),
        reference,
        total,
        page,
        data_coding: 0,
        octets: text.into(),
        received_at_ms: NOW,
        fingerprint,
        connection: 70,
    }
}

async fn keep(kit: &Kit, pages: Vec<ArrivedPage>) -> usize {
    let kept = KeptPages {
        pages,
        ended: vec![],
        bound: vec![70],
    };
    let kept = kit.store.inbound_pages().keep(NODE, kept);
    kept.await.unwrap()
}

async fn ready(kit: &Kit, before_ms: i64) -> Vec<PageGroup> {
    let mut ready = kit
        .store
        .inbound_pages()
        .ready(before_ms, 10)
        .await
        .unwrap();
    ready.retain(|group| group.carrier == "mtn");
    ready
}

/// A message to 32811.
fn message(account: Option<AccountId>, at_ms: i64) -> InboundMessage {
    InboundMessage {
        id: message_id(at_ms),
        account,
        route: None,
        carrier: "mtn".to_owned(),
        number: "32811".to_owned(),
        sender: "2348031234567".to_owned(),
        keyword: "promo".to_owned(),
        complete: true,
        in_reply_to: Some(message_id(at_ms - 5)),
        received_at_ms: at_ms,
        body: Some("Promo 12".to_owned()),
    }
}

async fn pages_are_ready_once_all_are_there_or_waited_enough(kit: &Kit) {
    let whole = page("1001", (fresh(), 1, 1), "whole");
    let first = page("1001", (7, 2, 1), "first");
    let second = page("1001", (7, 2, 2), "second");
    assert_eq!(keep(kit, vec![whole.clone(), second.clone()]).await, 0);
    let groups = ready(kit, NOW - 1).await;
    assert_eq!(groups.len(), 1);
    assert_eq!(groups[0].reference, whole.reference);
    assert_eq!(ready(kit, NOW).await.len(), 2, "the page waited enough");
    keep(kit, vec![first.clone()]).await;
    let groups = ready(kit, NOW - 1).await;
    assert_eq!(groups.len(), 2);
    let pages = kit.store.inbound_pages().of(&groups[1]).await.unwrap();
    let texts: Vec<_> = pages
        .iter()
        .map(|page| (page.number, &*page.octets))
        .collect();
    assert_eq!(texts, [(1, &b"first"[..]), (2, &b"second"[..])]);
}

async fn a_repetition_after_the_end_of_its_connection_is_left_out(kit: &Kit) {
    kit.store.nodes().beat(NODE, "here").await.unwrap();
    let rows = async || {
        let rows = "select count(*) from inbound_pages";
        kit.numbers(rows).await[0]
    };
    let arrive = async |node, connection, at_ms, ended: &[i64], bound: &[i64]| {
        let arrived = ArrivedPage {
            connection,
            received_at_ms: at_ms,
            ..page("1002", (fresh(), 1, 1), "same")
        };
        let kept = KeptPages {
            pages: vec![arrived],
            ended: ended.to_vec(),
            bound: bound.to_vec(),
        };
        kit.store.inbound_pages().keep(node, kept).await.unwrap()
    };
    assert_eq!(arrive(NODE, 70, NOW, &[], &[70, 71]).await, 0);
    assert_eq!(
        arrive(NODE, 70, NOW + 1, &[], &[70, 71]).await,
        0,
        "it was sent twice"
    );
    assert_eq!(
        arrive(NODE, 71, NOW + 2, &[], &[70, 71]).await,
        0,
        "both are open"
    );
    assert_eq!(rows().await, 3);
    assert_eq!(
        arrive(NODE, 72, NOW + 3, &[70], &[72]).await,
        1,
        "the first one ended"
    );
    assert_eq!(arrive(NODE, 73, NOW + 4, &[], &[73]).await, 1);
    assert_eq!(rows().await, 3);
    assert_eq!(
        arrive(NODE, 74, NOW + 70_000, &[], &[74]).await,
        0,
        "a minute has passed"
    );
    // Another node knows the end of a connection by its flag, or by the end of its node.
    kit.plant("delete from inbound_arrivals").await;
    assert_eq!(arrive(NODE, 80, NOW, &[], &[80]).await, 0);
    assert_eq!(
        arrive(OTHER_NODE, 90, NOW + 1, &[], &[90]).await,
        0,
        "80 is open"
    );
    kit.plant("delete from inbound_arrivals where connection = 90")
        .await;
    let ended = KeptPages {
        ended: vec![80],
        ..KeptPages::default()
    };
    kit.store.inbound_pages().keep(NODE, ended).await.unwrap();
    assert_eq!(arrive(OTHER_NODE, 91, NOW + 2, &[], &[91]).await, 1);
    // A connection may end before the commit of its page.
    kit.plant("delete from inbound_arrivals").await;
    assert_eq!(arrive(NODE, 93, NOW, &[93], &[]).await, 0);
    assert_eq!(arrive(OTHER_NODE, 94, NOW + 1, &[], &[94]).await, 1);
    kit.plant("update inbound_arrivals set ended = false").await;
    kit.store.nodes().leave(NODE).await.unwrap();
    assert_eq!(arrive(OTHER_NODE, 92, NOW + 3, &[], &[92]).await, 1);
}

async fn arrivals_are_forgotten_after_a_minute(kit: &Kit) {
    let old = page("1003", (fresh(), 1, 1), "old");
    let new = ArrivedPage {
        received_at_ms: NOW + 1,
        ..page("1003", (fresh(), 1, 1), "new")
    };
    keep(kit, vec![old, new]).await;
    let forgotten = kit
        .store
        .inbound_pages()
        .forget_arrivals(NOW + 60_000)
        .await;
    assert!(!forgotten.unwrap());
    let rows = "select received_at_ms from inbound_arrivals";
    assert_eq!(kit.numbers(rows).await, [NOW + 1]);
}

async fn the_pages_of_a_message_go_when_it_is_kept(kit: &Kit) {
    let account = kit.account(0).await;
    let one = page("1004", (fresh(), 1, 1), "text");
    keep(kit, vec![one.clone()]).await;
    let kept = message(Some(account), NOW);
    let inbound = kit.store.inbound_messages();
    let nothing = || (None, None);
    let first = inbound.keep(kept.clone(), vec![one.id], nothing());
    assert_eq!(first.await.unwrap(), Kept::Message);
    assert_eq!(ready(kit, NOW).await, []);
    let again = message(Some(account), NOW + 1);
    let again = inbound.keep(again, vec![one.id], nothing());
    assert_eq!(again.await.unwrap(), Kept::Before, "another node has it");
    let all = InboundFilter::default();
    let listed = inbound.list(Some(account), &all, None, (9, 99)).await;
    assert_eq!(listed.unwrap().messages, [kept]);
    keep(kit, vec![one.clone()]).await;
    let pages = kit.store.inbound_pages();
    assert!(pages.remove(vec![one.id]).await.unwrap());
    assert!(!pages.remove(vec![one.id]).await.unwrap());
}

/// Keeps a message that was in one page.
async fn add(kit: &Kit, message: InboundMessage) {
    let one = page("1005", (fresh(), 1, 1), &message.id.to_string());
    keep(kit, vec![one.clone()]).await;
    let kept = kit
        .store
        .inbound_messages()
        .keep(message, vec![one.id], (None, None));
    assert_eq!(kept.await.unwrap(), Kept::Message);
}

async fn a_list_has_the_messages_of_its_filter_newest_first(kit: &Kit) {
    let (account, other) = (kit.account(0).await, kit.account(0).await);
    let mine: Vec<_> = (0..3).map(|at| message(Some(account), NOW + at)).collect();
    for one in &mine {
        add(kit, one.clone()).await;
    }
    let special = InboundMessage {
        number: "32812".to_owned(),
        keyword: String::new(),
        sender: "447700900123".to_owned(),
        in_reply_to: None,
        ..message(Some(account), NOW + 10)
    };
    add(kit, special.clone()).await;
    add(kit, message(None, NOW + 11)).await;
    let list = async |account, filter: InboundFilter, behind: Option<MessageId>| {
        let listed = kit
            .store
            .inbound_messages()
            .list(account, &filter, behind, (9, 99))
            .await;
        let ids = listed.unwrap().messages.into_iter().map(|one| one.id);
        ids.collect::<Vec<_>>()
    };
    let all = InboundFilter::default;
    let ids = [special.id, mine[2].id, mine[1].id, mine[0].id];
    assert_eq!(list(Some(account), all(), None).await, ids);
    assert_eq!(list(Some(account), all(), Some(mine[1].id)).await, ids[3..]);
    assert_eq!(list(Some(other), all(), None).await, []);
    assert_eq!(list(None, all(), None).await[1..], ids);
    let named = |number: Option<&str>, keyword: Option<&str>, sender: Option<&str>| InboundFilter {
        number: number.map(str::to_owned),
        keyword: keyword.map(str::to_owned),
        sender: sender.map(str::to_owned),
        ..all()
    };
    let within = |since_ms, until_ms| InboundFilter {
        since_ms,
        until_ms,
        ..all()
    };
    for (filter, expected) in [
        (named(Some("32812"), None, None), &ids[..1]),
        (named(None, Some("promo"), None), &ids[1..]),
        (named(None, None, Some("447700900123")), &ids[..1]),
        (within(Some(NOW + 2), None), &ids[..2]),
        (within(None, Some(NOW + 1)), &ids[3..]),
    ] {
        assert_eq!(
            list(Some(account), filter.clone(), None).await,
            expected,
            "{filter:?}"
        );
    }
}

async fn a_filter_examines_a_maximum_of_messages(kit: &Kit) {
    let account = kit.account(0).await;
    let all: Vec<_> = (0..5).map(|at| message(Some(account), NOW + at)).collect();
    for one in &all {
        add(kit, one.clone()).await;
    }
    let filter = InboundFilter {
        until_ms: Some(NOW + 2),
        ..InboundFilter::default()
    };
    let look = async |account, behind, limit| {
        let inbound = kit.store.inbound_messages();
        let found = inbound
            .list(account, &filter, behind, (limit, 2))
            .await
            .unwrap();
        let ids: Vec<_> = found.messages.into_iter().map(|one| one.id).collect();
        (ids, found.ends_at)
    };
    for account in [Some(account), None] {
        assert_eq!(look(account, None, 9).await, (vec![], Some(all[3].id)));
        let next = look(account, Some(all[3].id), 9).await;
        assert_eq!(next, (vec![all[1].id], Some(all[1].id)));
        let last = look(account, Some(all[1].id), 9).await;
        assert_eq!(last, (vec![all[0].id], None));
        let full = look(account, Some(all[3].id), 1).await;
        assert_eq!(full, (vec![all[1].id], None), "the page is full");
    }
}

async fn old_messages_go_after_their_texts(kit: &Kit) {
    let account = kit.account(0).await;
    let (old, new) = (message(Some(account), NOW), message(Some(account), NOW + 5));
    add(kit, old.clone()).await;
    add(kit, new.clone()).await;
    let inbound = kit.store.inbound_messages();
    let listed = async || {
        let listed = inbound
            .list(Some(account), &InboundFilter::default(), None, (9, 99))
            .await;
        listed.unwrap().messages
    };
    assert!(!inbound.remove_old(NOW + 1, true).await.unwrap());
    let without_text = InboundMessage { body: None, ..old };
    assert_eq!(listed().await, [new.clone(), without_text]);
    assert!(!inbound.remove_old(NOW + 1, false).await.unwrap());
    assert_eq!(listed().await, [new]);
}

async fn a_callback_has_the_text_that_retention_has_left(kit: &Kit) {
    const URL: &str = "https://shop.example.ng/in?key=1";
    let account = kit.account(0).await;
    let (bucket, inbound) = (kit.store.bucket_of(account), kit.store.inbound_messages());
    let message = message(Some(account), NOW);
    let callback = Callback::of_inbound((bucket, account), &message, URL, NOW);
    let one = page("1007", (fresh(), 1, 1), "one");
    keep(kit, vec![one.clone()]).await;
    let kept = async |pages| {
        let callback = Some(callback.clone());
        let kept = inbound.keep(message.clone(), pages, (callback, None));
        kept.await.unwrap()
    };
    assert_eq!(kept(vec![one.id]).await, Kept::Message);
    let again = kept(vec![one.id]).await;
    assert_eq!(again, Kept::Before, "it has its callback already");
    let claim = async |now_ms| {
        let of = (bucket, account, Environment::Live, callback.origin.clone());
        let claimed = kit.store.outbox().claim(of, now_ms, 9, NODE, now_ms + 1);
        claimed.await.unwrap()
    };
    assert_eq!(claim(NOW).await, std::slice::from_ref(&callback));
    let ended = AttemptOutcome::new(callback.clone(), Finished::Dead);
    kit.store.outbox().finish(NODE, vec![ended]).await.unwrap();
    assert_eq!(claim(NOW).await, []);
    let dead = async || {
        let listed = kit.store.dead_callbacks().list(account, None, 9);
        listed.await.unwrap()
    };
    let died = Callback {
        attempts: 1,
        ..callback.clone()
    };
    assert_eq!(dead().await, [died]);
    inbound.remove_old(NOW + 1, true).await.unwrap();
    let origins = kit.store.dead_callbacks().origins(None, 1_000);
    let mut origins = origins.await.unwrap();
    origins.retain(|origin| origin.account == account);
    let replayed = kit.store.dead_callbacks();
    let replayed = replayed.replay(&origins[0], Some(message.id), by(NOW + 1));
    assert_eq!(replayed.await.unwrap(), 1);
    let without_text = InboundMessage {
        body: None,
        ..message.clone()
    };
    let again = Callback::of_inbound((bucket, account), &without_text, URL, NOW + 1);
    assert_eq!(claim(NOW + 1).await, std::slice::from_ref(&again));
    let waits = AttemptOutcome::new(again, Finished::Untouched);
    kit.store.outbox().finish(NODE, vec![waits]).await.unwrap();
    inbound.remove_old(NOW + 1, false).await.unwrap();
    assert_eq!(claim(NOW + 1).await, [], "its message is gone");
    let rows = format!(
        "select count(*) from outbox where account_id = {}",
        account.0
    );
    assert_eq!(kit.numbers(&rows).await, [0]);
}

fn route(account: AccountId, number: &str, keyword: &str) -> InboundRoute {
    InboundRoute {
        id: format!("rt_{}", fresh()),
        number: number.to_owned(),
        keyword: keyword.to_owned(),
        account,
        url: None,
        smpp_user: None,
        is_given: true,
        created_at_ms: NOW,
    }
}

async fn add_route(kit: &Kit, route: &InboundRoute, owner: RouteOwner) -> AddedRoute {
    let added = kit
        .store
        .inbound_routes()
        .add(route.clone(), owner, by(NOW));
    added.await.unwrap()
}

async fn a_number_belongs_to_one_account_for_each_keyword(kit: &Kit) {
    let (one, two) = (kit.account(0).await, kit.account(0).await);
    let (routes, operator) = (kit.store.inbound_routes(), RouteOwner::Operator);
    let all = route(one, "40001", "");
    let promo = route(two, "40001", "promo");
    assert_eq!(
        add_route(kit, &all, operator).await,
        AddedRoute::Added(all.clone())
    );
    assert_eq!(
        add_route(kit, &promo, operator).await,
        AddedRoute::Added(promo.clone())
    );
    let taken = route(one, "40001", "promo");
    assert_eq!(add_route(kit, &taken, operator).await, AddedRoute::Taken);
    let with_url = InboundRoute {
        url: Some("https://shop.example.ng/in".to_owned()),
        ..all.clone()
    };
    let again = InboundRoute {
        id: "rt_other".to_owned(),
        ..with_url.clone()
    };
    assert_eq!(
        add_route(kit, &again, operator).await,
        AddedRoute::Added(with_url.clone())
    );
    let mut found = routes.of_number("40001").await.unwrap();
    found.sort_by_key(|route| route.keyword.len());
    assert_eq!(found, [with_url.clone(), promo.clone()]);
    assert_eq!(routes.of(two).await.unwrap(), std::slice::from_ref(&promo));
    let listed = routes.list(Some(one), None, 9).await.unwrap();
    assert_eq!(listed, [with_url]);
    let before = kit.store.revisions().current().await.unwrap();
    let remove = async |id: &str| routes.remove(id, operator, by(NOW)).await.unwrap();
    assert_eq!(remove(&promo.id).await, RemovedRoute::Removed);
    assert_eq!(remove(&promo.id).await, RemovedRoute::Unknown);
    let after = kit.store.revisions().current().await.unwrap();
    assert!(
        after.is_another_than(before),
        "nodes read the senders again"
    );
    let verbs = "select verb from audit where verb like 'inbound%' order by number";
    let verbs = kit.texts(verbs).await;
    assert_eq!(verbs.last().unwrap(), "inbound.route.remove");
    assert_eq!(verbs.len(), 4);
}

async fn an_account_changes_only_routes_of_its_own_numbers(kit: &Kit) {
    let (one, two) = (kit.account(0).await, kit.account(0).await);
    let given = route(one, "40002", "");
    add_route(kit, &given, RouteOwner::Operator).await;
    let keyword_alone = route(two, "40002", "promo");
    add_route(kit, &keyword_alone, RouteOwner::Operator).await;
    let own = |account, keyword| InboundRoute {
        smpp_user: None,
        is_given: false,
        ..route(account, "40002", keyword)
    };
    let (mine, other) = (own(one, "win"), own(two, "win more"));
    let as_one = RouteOwner::Account(one);
    assert_eq!(
        add_route(kit, &mine, as_one).await,
        AddedRoute::Added(mine.clone())
    );
    let before = kit.store.revisions().current().await.unwrap();
    assert_eq!(
        add_route(kit, &other, RouteOwner::Account(two)).await,
        AddedRoute::NotGiven
    );
    let taken = own(one, "promo");
    assert_eq!(add_route(kit, &taken, as_one).await, AddedRoute::Taken);
    let routes = kit.store.inbound_routes();
    let remove = async |id: &str, owner| routes.remove(id, owner, by(NOW)).await.unwrap();
    assert_eq!(remove(&given.id, as_one).await, RemovedRoute::Given);
    let as_two = RouteOwner::Account(two);
    assert_eq!(remove(&mine.id, as_two).await, RemovedRoute::Unknown);
    let after = kit.store.revisions().current().await.unwrap();
    assert!(
        !after.is_another_than(before),
        "a refusal makes no node read again"
    );
    assert_eq!(remove(&mine.id, as_one).await, RemovedRoute::Removed);
}

async fn the_own_routes_of_an_account_end_with_its_number(kit: &Kit) {
    let (one, two) = (kit.account(0).await, kit.account(0).await);
    let operator = RouteOwner::Operator;
    let all = route(one, "40003", "");
    let keyword = route(one, "40003", "given");
    let elsewhere = route(one, "40004", "");
    for given in [&all, &keyword, &elsewhere, &route(two, "40003", "promo")] {
        add_route(kit, given, operator).await;
    }
    let own = |number, keyword| InboundRoute {
        smpp_user: None,
        is_given: false,
        ..route(one, number, keyword)
    };
    let own_elsewhere = own("40004", "win");
    for mine in [&own("40003", "win"), &own("40003", "more"), &own_elsewhere] {
        let added = add_route(kit, mine, RouteOwner::Account(one)).await;
        assert_eq!(added, AddedRoute::Added(mine.clone()));
    }
    let routes = kit.store.inbound_routes();
    let removed = routes.remove(&all.id, operator, by(NOW)).await;
    assert_eq!(removed.unwrap(), RemovedRoute::Removed);
    let ids = async |account| {
        let left = routes.of(account).await.unwrap();
        let mut ids: Vec<_> = left.into_iter().map(|route| route.id).collect();
        ids.sort();
        ids
    };
    let mut expected = [keyword.id, elsewhere.id, own_elsewhere.id];
    expected.sort();
    assert_eq!(ids(one).await, expected);
    assert_eq!(ids(two).await.len(), 1);
}

async fn routes_at_the_same_time_keep_to_the_maximum(kit: &Kit) {
    let account = kit.account(0).await;
    add_route(kit, &route(account, "40010", ""), RouteOwner::Operator).await;
    let number = "with recursive n (i) as (select 2 union all select i + 1 from n where i < 999)";
    kit.run(&format!(
        "insert into inbound_routes (route_id, number, keyword, account_id, given, created_at_ms)
         {number} select 'rt_' || {0} || '_' || i, '40010', 'word' || i, {0}, false, {NOW} from n",
        account.0
    ))
    .await
    .unwrap();
    let add = async |keyword: &str| {
        let asked = InboundRoute {
            is_given: false,
            ..route(account, "40010", keyword)
        };
        add_route(kit, &asked, RouteOwner::Account(account)).await
    };
    let (one, other) = tokio::join!(add("one"), add("other"));
    let is_added = |added: &AddedRoute| matches!(added, AddedRoute::Added(_));
    assert_ne!(
        is_added(&one),
        is_added(&other),
        "there is room for one more"
    );
    assert_eq!(add("third").await, AddedRoute::TooMany);
}

async fn an_account_replaces_the_smpp_user_of_a_route_by_a_url(kit: &Kit) {
    let account = kit.account(0).await;
    let given = InboundRoute {
        smpp_user: Some("og".to_owned()),
        ..route(account, "40009", "")
    };
    let added = add_route(kit, &given, RouteOwner::Operator).await;
    assert_eq!(added, AddedRoute::Added(given.clone()));
    let owner = RouteOwner::Account(account);
    let asked = route(account, "40009", "");
    let same = add_route(kit, &asked, owner).await;
    assert_eq!(same, AddedRoute::Added(given.clone()));
    let url = Some("https://shop.example.ng/in".to_owned());
    let asked = InboundRoute {
        url: url.clone(),
        ..asked
    };
    let changed = InboundRoute {
        url,
        smpp_user: None,
        ..given
    };
    let added = add_route(kit, &asked, owner).await;
    assert_eq!(added, AddedRoute::Added(changed.clone()));
    // A user that the account does not have changes nothing.
    let unknown = InboundRoute {
        smpp_user: Some("nobody".to_owned()),
        url: None,
        ..changed.clone()
    };
    let refused = add_route(kit, &unknown, owner).await;
    assert_eq!(refused, AddedRoute::UnknownUser);
    let left = kit.store.inbound_routes().of(account).await.unwrap();
    assert_eq!(left, [changed]);
}
