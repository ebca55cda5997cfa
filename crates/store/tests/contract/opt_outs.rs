//! Opt-outs.

use domain::opt_out::OptOut;
use domain::{AccountId, ObjectRefusal, Recipient, Refusal};
use std::collections::HashSet;
use store::{AddedOptOuts, Outcome};
use storekit::{Kit, NOW, by, message_id, number, twins};

twins!(
    a_number_opts_out_once_for_each_sender,
    the_recipients_of_a_send_are_found_in_a_long_list,
    the_first_opt_out_of_an_account_raises_the_revision,
    a_list_has_the_newest_opt_outs_first,
    an_account_adds_opt_outs_up_to_its_limit,
);

const MAX: u64 = 2_600;

fn opt_out(account: AccountId, index: usize, sender: Option<&str>) -> OptOut {
    OptOut {
        id: message_id(NOW + i64::try_from(index).unwrap()),
        account,
        recipient: number(index),
        sender: sender.map(str::to_owned),
        reason: None,
        created_at_ms: NOW,
    }
}

async fn add(kit: &Kit, account: AccountId, opt_outs: Vec<OptOut>) -> AddedOptOuts {
    let opt_outs = (opt_outs, Some(MAX));
    let added = kit.store.opt_outs().add(account, opt_outs, None, by(NOW));
    match added.await.unwrap() {
        Outcome::Made(added) => added,
        other => panic!("{other:?}"),
    }
}

async fn remove(kit: &Kit, account: AccountId, index: usize) -> Option<u64> {
    let opt_outs = kit.store.opt_outs();
    let removed = opt_outs.remove(account, number(index), None, by(NOW));
    match removed.await.unwrap() {
        Outcome::Made(count) => Some(count),
        Outcome::Refused(refusal) => {
            assert_eq!(refusal, Refusal::Object(ObjectRefusal::UnknownOptOut));
            None
        }
        Outcome::Replay(answer) => panic!("{answer:?}"),
    }
}

/// Returns the indexes of those of the numbers who opted out of a sender ID.
async fn found(kit: &Kit, account: AccountId, sender: &str, indexes: &[usize]) -> Vec<usize> {
    let recipients: Vec<Recipient> = indexes.iter().map(|&index| number(index)).collect();
    let opt_outs = kit.store.opt_outs();
    let found = opt_outs.of_recipients(account, sender, recipients);
    let found: HashSet<Recipient> = found.await.unwrap();
    let is_found = |index: &&usize| found.contains(&number(**index));
    indexes.iter().filter(is_found).copied().collect()
}

async fn a_number_opts_out_once_for_each_sender(kit: &Kit) {
    let (one, two) = (kit.account(0).await, kit.account(0).await);
    let first = opt_out(one, 1, None);
    let with_reason = OptOut {
        reason: Some("complaint".to_owned()),
        ..opt_out(one, 2, Some("Ada Foods"))
    };
    let added = add(kit, one, vec![first.clone(), with_reason.clone()]).await;
    assert_eq!((added.added, added.known, added.first), (2, 0, first));
    let again = OptOut {
        created_at_ms: NOW + 9,
        sender: Some("ADA foods".to_owned()),
        ..opt_out(one, 2, None)
    };
    let added = add(kit, one, vec![again]).await;
    assert_eq!((added.added, added.known, added.first), (0, 1, with_reason));
    let all = [0, 1, 2, 3];
    assert_eq!(found(kit, one, "Ogene", &all).await, [1]);
    assert_eq!(found(kit, one, " ada FOODS", &all).await, [1, 2]);
    assert_eq!(found(kit, one, "Ogene", &[]).await, [0; 0]);
    assert_eq!(found(kit, two, "Ogene", &all).await, [0; 0]);
    add(kit, one, vec![opt_out(one, 2, None)]).await;
    assert_eq!(remove(kit, two, 2).await, None);
    assert_eq!(remove(kit, one, 2).await, Some(2));
    assert_eq!(remove(kit, one, 2).await, None);
    assert_eq!(found(kit, one, "Ada Foods", &all).await, [1]);
    let verbs = "select verb from audit where verb like 'opt-out%' order by number";
    let verbs = kit.texts(verbs).await;
    assert_eq!(verbs, ["opt-out.add", "opt-out.add", "opt-out.remove"]);
}

async fn the_recipients_of_a_send_are_found_in_a_long_list(kit: &Kit) {
    let account = kit.account(0).await;
    // One query does not read all of these between two recipients.
    let many = (0..2_500).map(|index| opt_out(account, 2 * index, None));
    add(kit, account, many.collect()).await;
    let indexes = [4_999, 1, 0, 2_400, 2_401, 4_998, 9_000];
    let opted_out = found(kit, account, "Ogene", &indexes).await;
    assert_eq!(opted_out, [0, 2_400, 4_998]);
}

async fn the_first_opt_out_of_an_account_raises_the_revision(kit: &Kit) {
    let account = kit.account(0).await;
    let opt_outs = kit.store.opt_outs();
    let revision = async || kit.store.revisions().current().await.unwrap().number;
    assert!(!opt_outs.were_used(account).await.unwrap());
    let before = revision().await;
    add(kit, account, vec![opt_out(account, 1, None)]).await;
    assert_eq!(revision().await, before + 1);
    add(kit, account, vec![opt_out(account, 2, None)]).await;
    remove(kit, account, 1).await;
    remove(kit, account, 2).await;
    add(kit, account, vec![opt_out(account, 3, None)]).await;
    assert_eq!(revision().await, before + 1, "the account is known");
    assert!(opt_outs.were_used(account).await.unwrap());
}

async fn a_list_has_the_newest_opt_outs_first(kit: &Kit) {
    let (one, two) = (kit.account(0).await, kit.account(0).await);
    let all: Vec<OptOut> = (0..3).map(|index| opt_out(one, index, None)).collect();
    add(kit, one, all.clone()).await;
    add(kit, two, vec![opt_out(two, 7, None)]).await;
    let list = async |behind, limit| kit.store.opt_outs().list(one, behind, limit).await.unwrap();
    assert_eq!(
        list(None, 2).await,
        [all[2].clone(), all[1].clone()].to_vec()
    );
    assert_eq!(list(Some(all[1].id), 2).await, [all[0].clone()].to_vec());
}

async fn an_account_adds_opt_outs_up_to_its_limit(kit: &Kit) {
    let (one, two) = (kit.account(0).await, kit.account(0).await);
    let add_to = async |account, limit, indexes: std::ops::Range<usize>| {
        let opt_outs: Vec<_> = indexes.map(|index| opt_out(account, index, None)).collect();
        let opt_outs = (opt_outs, limit);
        let added = kit.store.opt_outs().add(account, opt_outs, None, by(NOW));
        match added.await.unwrap() {
            Outcome::Made(added) => Ok(added.added),
            Outcome::Refused(refusal) => Err(refusal),
            Outcome::Replay(answer) => panic!("{answer:?}"),
        }
    };
    let used = Refusal::Object(ObjectRefusal::OptOutsUsed { limit: 3 });
    assert_eq!(add_to(one, Some(3), 0..2).await, Ok(2));
    assert_eq!(add_to(one, Some(3), 2..4).await, Err(used.clone()));
    assert_eq!(add_to(two, Some(3), 0..3).await, Ok(3));
    assert_eq!(add_to(one, Some(3), 2..3).await, Ok(1));
    assert_eq!(add_to(one, Some(3), 3..4).await, Err(used));
    assert_eq!(add_to(one, None, 2..5).await, Ok(2), "no limit");
    for index in [0, 1, 2] {
        assert_eq!(remove(kit, one, index).await, Some(1));
    }
    assert_eq!(add_to(one, Some(3), 7..8).await, Ok(1));
    assert_eq!(
        kit.store.upkeep().verify().await.unwrap().violations,
        [""; 0]
    );
}
