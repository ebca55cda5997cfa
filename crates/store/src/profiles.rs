//! Profiles: over which gateway an account sends, under which sender, and where it is called back.
//!
//! Most of its messages agree in these, so they are kept once for all of them (decision 0025). A profile never changes
//! and never goes. The first message that has one says everything itself; the profile is made once that message is accepted,
//! and only what was read back is remembered, and for no longer than the server lasts that had committed it. So no message
//! names a profile that is not there. An account has few: messages beyond them say everything themselves.

use crate::accept::NewMessage;
use crate::db::{Change, Db, Tx};
use crate::error::Result;
use crate::rows::named;
use crate::sql::{execute_rows, find_rows};
use crate::wallets::Owner;
use crate::{Outage, Store};
use domain::{AccountId, Draft, Gateway};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Stores of profiles, one after each group of sends.
static PROFILES: Outage = Outage::of("profiles cannot be stored, and messages are stored in full");

/// Most profiles of an account: who has a callback URL of its own for each message gains nothing from more.
const MOST_OF_ACCOUNT: usize = 32;
/// Most octets of what is remembered, as far as they are counted.
const MOST_OCTETS: usize = 16 << 20;
/// What an account and a profile take, beside texts.
const OCTETS_OF_EACH: usize = 64;

/// What messages have in common.
#[derive(Clone, Debug)]
struct Profile {
    number: i64,
    gateway: Gateway,
    sender: String,
    callback_url: Option<String>,
}

impl Profile {
    fn is_of(&self, draft: &Draft) -> bool {
        self.gateway == draft.gateway
            && self.sender == draft.sender
            && self.callback_url == draft.callback_url
    }
}

/// The profiles of accounts that have sent of late.
#[derive(Debug, Default)]
pub(crate) struct Profiles(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// From which incarnation of the database they were read: another may lack what that one had committed.
    incarnation: i64,
    of: HashMap<AccountId, Vec<Profile>>,
    octets: usize,
}

impl Profiles {
    fn known(&self, incarnation: i64) -> MutexGuard<'_, Known> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.incarnation != incarnation {
            *known = Known {
                incarnation,
                ..Known::default()
            };
        }
        known
    }

    /// The number of each message's profile, where it is known.
    pub(crate) fn numbers(&self, messages: &[NewMessage], incarnation: i64) -> Vec<Option<i64>> {
        let known = self.known(incarnation);
        let number = |message: &NewMessage| {
            let all = known.of.get(&message.draft.account)?;
            let profile = all.iter().find(|profile| profile.is_of(&message.draft))?;
            Some(profile.number)
        };
        messages.iter().map(number).collect()
    }

    /// The profiles that these want and that there is room for, under the numbers that are free.
    fn missing(&self, wanted: &[Wanted], incarnation: i64) -> Vec<(Owner, Profile)> {
        let known = self.known(incarnation);
        // In the order of their keys: nodes that make the same do not wait for each other crosswise.
        let mut missing: BTreeMap<Owner, Vec<Profile>> = BTreeMap::new();
        for Wanted { owner, draft, .. } in wanted {
            let Some(there) = known.of.get(&owner.1) else {
                continue;
            };
            let new = missing.entry(*owner).or_default();
            let number = there.len() + new.len();
            let is_there = there
                .iter()
                .chain(&*new)
                .any(|profile| profile.is_of(draft));
            if !is_there && number < MOST_OF_ACCOUNT {
                new.push(Profile {
                    number: i64::try_from(number).unwrap_or(i64::MAX),
                    gateway: draft.gateway,
                    sender: draft.sender.clone(),
                    callback_url: draft.callback_url.clone(),
                });
            }
        }
        let of = |(owner, new): (Owner, Vec<Profile>)| {
            new.into_iter().map(move |profile| (owner, profile))
        };
        missing.into_iter().flat_map(of).collect()
    }

    fn remember(&self, read: HashMap<AccountId, Vec<Profile>>, incarnation: i64) {
        let mut known = self.known(incarnation);
        for (account, all) in read {
            known.octets += octets(&all);
            if let Some(before) = known.of.insert(account, all) {
                known.octets -= octets(&before);
            }
        }
        if known.octets > MOST_OCTETS {
            *known = Known {
                incarnation,
                ..Known::default()
            };
        }
    }
}

/// What the profiles of an account take.
fn octets(all: &[Profile]) -> usize {
    let texts = all.iter().map(|profile| {
        let url = profile.callback_url.as_ref().map_or(0, String::len);
        OCTETS_OF_EACH + profile.sender.len() + url
    });
    OCTETS_OF_EACH + texts.sum::<usize>()
}

/// A message that says everything itself, and may have a profile.
pub(crate) struct Wanted {
    /// Where in its group it stands.
    pub(crate) place: usize,
    owner: Owner,
    draft: Arc<Draft>,
}

impl Store {
    /// Those of these messages without a profile whose accounts have room for more, as far as is known.
    pub(crate) fn wanted_profiles(
        &self,
        messages: &[NewMessage],
        profiles: &[Option<i64>],
        incarnation: i64,
    ) -> Vec<Wanted> {
        let known = self.profiles.known(incarnation);
        let has_room = |account| {
            let all = known.of.get(&account);
            all.is_none_or(|all| all.len() < MOST_OF_ACCOUNT)
        };
        let all = messages.iter().zip(profiles).enumerate();
        let without = all
            .filter(|(_, (message, profile))| profile.is_none() && has_room(message.draft.account));
        without
            .map(|(place, (message, _))| {
                let draft = Arc::clone(&message.draft);
                let owner = (self.bucket_of(draft.account), draft.account);
                Wanted {
                    place,
                    owner,
                    draft,
                }
            })
            .collect()
    }

    /// Makes the profiles of messages that were accepted without. It is a saving and no more: where it fails, the next
    /// message says everything itself, too.
    pub(crate) async fn make_profiles(&self, wanted: Vec<Wanted>) {
        if wanted.is_empty() {
            return;
        }
        PROFILES.note(self.try_profiles(&wanted).await);
    }

    async fn try_profiles(&self, wanted: &[Wanted]) -> Result<()> {
        let incarnation = self.db.incarnation();
        let owners: BTreeSet<Owner> = wanted.iter().map(|wanted| wanted.owner).collect();
        self.know_profiles(&owners, incarnation).await?;
        let missing = self.profiles.missing(wanted, incarnation);
        if missing.is_empty() {
            return Ok(());
        }
        self.db.change(MakeProfiles { missing }).await?;
        self.know_profiles(&owners, incarnation).await
    }

    /// Reads the profiles of these accounts.
    async fn know_profiles(&self, owners: &BTreeSet<Owner>, incarnation: i64) -> Result<()> {
        let none = owners.iter().map(|owner| (owner.1, Vec::new()));
        let mut known: HashMap<AccountId, Vec<Profile>> = none.collect();
        let owners: Vec<Owner> = owners.iter().copied().collect();
        let rows: Vec<ProfileRow> = Db::in_time(async {
            let mut tx = self.db.read().await?;
            Ok(find_rows!(
                &mut tx,
                &owners,
                2,
                "select account_id, cast(profile as bigint) as profile, gateway, sender, callback_url
                 from profiles where (bucket, account_id) in (values {rows})",
                |query, owner| query.bind(owner.0.0).bind(owner.1.0)
            ))
        })
        .await?;
        for row in rows {
            let all = known.entry(AccountId(row.account_id)).or_default();
            all.push(Profile {
                number: row.profile,
                gateway: named(Gateway::from_name, &row.gateway)?,
                sender: row.sender,
                callback_url: row.callback_url,
            });
        }
        // What another server told meanwhile is not what is remembered of it.
        if self.db.incarnation() == incarnation {
            self.profiles.remember(known, incarnation);
        }
        Ok(())
    }
}

#[derive(sqlx::FromRow)]
struct ProfileRow {
    account_id: i64,
    profile: i64,
    gateway: String,
    sender: String,
    callback_url: Option<String>,
}

struct MakeProfiles {
    missing: Vec<(Owner, Profile)>,
}

impl Change for MakeProfiles {
    type Output = ();

    /// Where another has taken a number meanwhile, that stands.
    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        execute_rows!(
            tx,
            &self.missing,
            6,
            "insert into profiles (bucket, account_id, profile, gateway, sender, callback_url) values {rows}
             on conflict (bucket, account_id, profile) do nothing",
            |query, row| {
                let ((bucket, account), profile) = row;
                query
                    .bind(bucket.0)
                    .bind(account.0)
                    .bind(profile.number)
                    .bind(profile.gateway.as_str())
                    .bind(&profile.sender)
                    .bind(&profile.callback_url)
            }
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Environment, MessageId, Money, Priority, Terms, Text};

    fn message(account: i64, sender: &str) -> NewMessage {
        let draft = Draft {
            account: AccountId(account),
            environment: Environment::Live,
            gateway: Gateway::DirectRefund,
            sender: sender.to_owned(),
            text: Text::from_stored("Hello".to_owned()),
            recipients: Vec::new(),
            invalid: Vec::new(),
            invalid_count: 0,
            adjustments: domain::Adjustments::default(),
            classes: Vec::new(),
            page_count: 1,
            cost: Money::ZERO,
            priority: Priority::Normal,
            callback_url: None,
            customer_reference: None,
            fingerprint: [0; 16],
        };
        NewMessage {
            id: MessageId::lowest_at(0),
            draft: Arc::new(draft),
            terms: Terms {
                refund_undelivered: true,
                two_legs: false,
            },
            batches: Vec::new(),
        }
    }

    fn read(account: i64, sender: &str) -> HashMap<AccountId, Vec<Profile>> {
        let profile = Profile {
            number: 7,
            gateway: Gateway::DirectRefund,
            sender: sender.to_owned(),
            callback_url: None,
        };
        HashMap::from([(AccountId(account), vec![profile])])
    }

    #[test]
    fn what_one_server_told_is_not_believed_of_another() {
        let profiles = Profiles::default();
        let ours = [message(1, "ACME"), message(1, "Acme"), message(2, "ACME")];
        profiles.remember(read(1, "ACME"), 10);
        assert_eq!(profiles.numbers(&ours, 10), [Some(7), None, None]);
        assert_eq!(profiles.numbers(&ours, 11), [None, None, None]);
        assert_eq!(profiles.numbers(&ours, 10), [None, None, None]);
    }

    #[test]
    fn what_is_remembered_has_an_end() {
        let profiles = Profiles::default();
        let sender = "A".repeat(MOST_OCTETS / 100);
        let mut most = 0;
        for account in 0..1_000 {
            profiles.remember(read(account % 150, &sender), 0);
            let known = profiles.known(0);
            let all: usize = known.of.values().map(|all| octets(all)).sum();
            assert_eq!(known.octets, all);
            most = most.max(known.of.len());
        }
        assert_eq!(most, 99);
    }
}
