//! Profiles: over which gateway an account sends, under which sender, and where it is called back.
//!
//! Most of its messages agree in these, so they are kept once for all of them (decision 0025). A profile never changes
//! and never goes. It is committed before the first message that names it, and only what was read back is
//! remembered, so no message names one that is not there. An account has few: messages beyond them say everything
//! themselves.

use crate::Store;
use crate::accept::NewMessage;
use crate::db::{Change, Tx};
use crate::error::Result;
use crate::rows::named;
use crate::sql::{execute_rows, fetch_rows};
use domain::{AccountId, Draft, Gateway};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most profiles of an account: who has a callback URL of its own for each message gains nothing from more.
const MOST_OF_ACCOUNT: usize = 32;
/// Accounts whose profiles are remembered.
const MOST_REMEMBERED: usize = 16_384;

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
pub(crate) struct Profiles(Mutex<HashMap<AccountId, Vec<Profile>>>);

impl Profiles {
    fn lock(&self) -> MutexGuard<'_, HashMap<AccountId, Vec<Profile>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn numbers(&self, messages: &[NewMessage]) -> Vec<Option<i64>> {
        let known = self.lock();
        let number = |message: &NewMessage| {
            let all = known.get(&message.draft.account)?;
            let profile = all.iter().find(|profile| profile.is_of(&message.draft))?;
            Some(profile.number)
        };
        messages.iter().map(number).collect()
    }

    fn unknown(&self, messages: &[NewMessage]) -> BTreeSet<AccountId> {
        let known = self.lock();
        let accounts = messages.iter().map(|message| message.draft.account);
        accounts
            .filter(|account| !known.contains_key(account))
            .collect()
    }

    /// The profiles that these messages want and that there is room for, under the numbers that are free.
    fn missing(&self, messages: &[NewMessage]) -> Vec<(AccountId, Profile)> {
        let known = self.lock();
        let mut wanted: HashMap<AccountId, Vec<Profile>> = HashMap::new();
        for draft in messages.iter().map(|message| &message.draft) {
            let Some(there) = known.get(&draft.account) else {
                continue;
            };
            let new = wanted.entry(draft.account).or_default();
            let number = there.len() + new.len();
            let is_known = there
                .iter()
                .chain(&*new)
                .any(|profile| profile.is_of(draft));
            if !is_known && number < MOST_OF_ACCOUNT {
                new.push(Profile {
                    number: i64::try_from(number).unwrap_or(i64::MAX),
                    gateway: draft.gateway,
                    sender: draft.sender.clone(),
                    callback_url: draft.callback_url.clone(),
                });
            }
        }
        let of = |(account, new): (AccountId, Vec<Profile>)| {
            new.into_iter().map(move |profile| (account, profile))
        };
        wanted.into_iter().flat_map(of).collect()
    }

    fn remember(&self, read: HashMap<AccountId, Vec<Profile>>) {
        let mut known = self.lock();
        if known.len() + read.len() > MOST_REMEMBERED {
            known.clear();
        }
        known.extend(read);
    }
}

impl Store {
    /// The number of each message's profile, which is there from now on; none where the account has as many as it may.
    pub(crate) async fn profiles(&self, messages: &[NewMessage]) -> Result<Vec<Option<i64>>> {
        let numbers = self.profiles.numbers(messages);
        if numbers.iter().all(Option::is_some) {
            return Ok(numbers);
        }
        self.know_profiles(self.profiles.unknown(messages)).await?;
        let missing = self.profiles.missing(messages);
        if !missing.is_empty() {
            let accounts = missing.iter().map(|(account, _)| *account).collect();
            let store = self.clone();
            self.db.change(Make { store, missing }).await?;
            self.know_profiles(accounts).await?;
        }
        Ok(self.profiles.numbers(messages))
    }

    /// Reads the profiles of these accounts.
    async fn know_profiles(&self, accounts: BTreeSet<AccountId>) -> Result<()> {
        let mut known: HashMap<AccountId, Vec<Profile>> = accounts
            .iter()
            .map(|&account| (account, Vec::new()))
            .collect();
        let accounts: Vec<AccountId> = accounts.into_iter().collect();
        let mut tx = self.db.read().await?;
        let rows: Vec<ProfileRow> = fetch_rows!(
            &mut tx,
            &accounts,
            2,
            "select account_id, cast(profile as bigint) as profile, gateway, sender, callback_url from profiles
             where (bucket, account_id) in (values {rows})",
            |query, account| query.bind(self.bucket_of(*account).0).bind(account.0)
        );
        for row in rows {
            let profile = Profile {
                number: row.profile,
                gateway: named(Gateway::from_name, &row.gateway)?,
                sender: row.sender,
                callback_url: row.callback_url,
            };
            known
                .entry(AccountId(row.account_id))
                .or_default()
                .push(profile);
        }
        self.profiles.remember(known);
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

struct Make {
    store: Store,
    missing: Vec<(AccountId, Profile)>,
}

impl Change for Make {
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
                let (account, profile) = row;
                query
                    .bind(self.store.bucket_of(*account).0)
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
