//! The queries of a customer for messages, recipients and events.

use crate::admit::sandbox as simulated;
use crate::context::Context;
use crate::context::live::Live;
use crate::error::{Error, within};
use crate::queries::callbacks;
use crate::queries::export::{ExportPace, OptOutsExport, RecipientsExport, WalletExport};
use crate::queries::inbound;
use crate::queries::messages::{self, Message};
use crate::queries::overviews::{Overviews, UsageOverview};
use crate::queries::owned;
use crate::queries::recipients::{self, RecipientState, Timeline};
use crate::queries::scope::{ListPage, Scope};
use crate::queries::usage::{self, Usage};
use crate::queries::wallet::{self, WalletEntry};
use domain::alert::Alert;
use domain::inbound::{AnswerTexts, InboundMessage, InboundRoute};
use domain::opt_out::OptOut;
use domain::payment::TopUp;
use domain::search::{
    FilterFields, InboundFilter, KeyPage, List, MessageFilter, Page, UsageBy, UsageFilter,
    WalletFilter, read_message, read_status,
};
use domain::smpp_user::SmppUser;
use domain::{AccountId, Environment, ObjectRefusal, Purse, Refusal, Spending};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use store::{Callback, CallbackAttempt, CallbackSecret, SubAccount, TokenInfo};
use tokio::time::sleep;

/// The unparsed fields of a request for a page.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageFields<'a> {
    /// The maximum number of items.
    pub limit: Option<&'a str>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<&'a str>,
}

/// The queries of one customer.
#[derive(Clone)]
pub struct CustomerQueries {
    pub(super) context: Arc<Context>,
    pub(super) live: Arc<Live>,
    pub(super) overviews: Arc<Overviews>,
    pub(super) account: AccountId,
    pub(super) environment: Environment,
}

impl CustomerQueries {
    /// Returns a page of the account's messages, newest first.
    pub async fn messages(
        &self,
        fields: &FilterFields,
        page: PageFields<'_>,
    ) -> Result<ListPage<Message>, Error> {
        let filter = MessageFilter::read(fields, self.environment)?;
        let scope = self.scope();
        let cursor_scope = scope.cursor_scope(None);
        let page = Page::read(page.limit, page.cursor, List::Messages, &cursor_scope)?;
        within(messages::list(&scope, &filter, page)).await
    }

    /// Returns one message of the account.
    pub async fn message(&self, id: &str) -> Result<Message, Error> {
        within(messages::find(&self.scope(), id)).await
    }

    /// Returns a page of the recipients of a message.
    pub async fn recipients(
        &self,
        id: &str,
        fields: &FilterFields,
        page: PageFields<'_>,
    ) -> Result<ListPage<RecipientState>, Error> {
        let status = read_status(fields)?;
        let page = (page.limit, page.cursor);
        within(recipients::list(&self.scope(), id, status, page)).await
    }

    /// Returns one recipient of a message with its events.
    pub async fn recipient(&self, id: &str, number: &str) -> Result<Timeline, Error> {
        within(recipients::find(&self.scope(), id, number)).await
    }

    /// Returns a page of the entries of the wallet. The sandbox has none.
    pub async fn wallet_entries(
        &self,
        fields: &FilterFields,
        page: PageFields<'_>,
    ) -> Result<ListPage<WalletEntry>, Error> {
        let filter = WalletFilter::read(fields)?;
        let scope = self.scope();
        let cursor_scope = scope.cursor_scope(None);
        let page = Page::read(page.limit, page.cursor, List::WalletEntries, &cursor_scope)?;
        if self.environment == Environment::Sandbox {
            return Ok(ListPage::empty());
        }
        within(wallet::list(&scope, self.account, &filter, page)).await
    }

    /// Returns a page of the account's inbound messages, newest first. The sandbox has none.
    pub async fn inbound_messages(
        &self,
        fields: &FilterFields,
        page: PageFields<'_>,
    ) -> Result<ListPage<InboundMessage>, Error> {
        let filter = InboundFilter::read(fields)?;
        let scope = self.scope();
        let cursor_scope = scope.cursor_scope(None);
        let page = Page::read(page.limit, page.cursor, List::Inbound, &cursor_scope)?;
        if self.environment == Environment::Sandbox {
            return Ok(ListPage::empty());
        }
        within(inbound::messages(&scope, self.account, &filter, page)).await
    }

    /// Returns a page of the account's routes of inbound messages, newest first. The sandbox has
    /// none.
    pub async fn inbound_routes(
        &self,
        page: PageFields<'_>,
    ) -> Result<ListPage<InboundRoute>, Error> {
        let scope = self.scope();
        let page = self.key_page(page, List::InboundRoutes)?;
        if self.environment == Environment::Sandbox {
            return Ok(ListPage::empty());
        }
        within(owned::routes(&scope, self.account, page)).await
    }

    /// Returns the texts that answer commands. The sandbox has none.
    pub async fn answer_texts(&self) -> Result<AnswerTexts, Error> {
        if self.environment == Environment::Sandbox {
            return Ok(AnswerTexts::default());
        }
        let answers = self.context.store.inbound_answers();
        within(async { Ok(answers.texts(self.account).await?) }).await
    }

    /// Returns a page of the account's opt-outs, newest first. The sandbox has none.
    pub async fn opt_outs(&self, page: PageFields<'_>) -> Result<ListPage<OptOut>, Error> {
        let scope = self.scope();
        let cursor_scope = scope.cursor_scope(None);
        let page = Page::read(page.limit, page.cursor, List::OptOuts, &cursor_scope)?;
        if self.environment == Environment::Sandbox {
            return Ok(ListPage::empty());
        }
        within(owned::opt_outs(&scope, self.account, page)).await
    }

    /// Returns a page of the account's tokens, newest first.
    pub async fn tokens(&self, page: PageFields<'_>) -> Result<ListPage<TokenInfo>, Error> {
        let scope = self.scope();
        let page = self.key_page(page, List::OwnTokens)?;
        within(owned::tokens(&scope, self.account, page)).await
    }

    /// Returns a page of the account's alerts, newest first. The sandbox has none.
    pub async fn alerts(&self, page: PageFields<'_>) -> Result<ListPage<Alert>, Error> {
        let scope = self.scope();
        let page = self.key_page(page, List::Alerts)?;
        if self.environment == Environment::Sandbox {
            return Ok(ListPage::empty());
        }
        within(owned::alerts(&scope, self.account, page)).await
    }

    /// Returns a page of the account's top-ups, newest first.
    pub async fn top_ups(&self, page: PageFields<'_>) -> Result<ListPage<TopUp>, Error> {
        let scope = self.scope();
        let cursor_scope = scope.cursor_scope(None);
        let page = Page::read(page.limit, page.cursor, List::TopUps, &cursor_scope)?;
        within(owned::top_ups(&scope, self.account, page)).await
    }

    /// Returns one top-up of the account.
    pub async fn top_up(&self, id: &str) -> Result<TopUp, Error> {
        within(owned::top_up(&self.scope(), self.account, id)).await
    }

    /// Returns a page of the account's SMPP users, newest first.
    pub async fn smpp_users(&self, page: PageFields<'_>) -> Result<ListPage<SmppUser>, Error> {
        let scope = self.scope();
        let page = self.key_page(page, List::OwnSmppUsers)?;
        within(owned::smpp_users(&scope, self.account, page)).await
    }

    /// Returns a page of the secrets that sign the account's callbacks, newest first.
    pub async fn callback_secrets(
        &self,
        page: PageFields<'_>,
    ) -> Result<ListPage<CallbackSecret>, Error> {
        let scope = self.scope();
        let page = self.key_page(page, List::OwnSecrets)?;
        within(callbacks::secrets(&scope, self.account, page)).await
    }

    /// Returns a page of the account's dead callbacks, the latest first.
    pub async fn dead_callbacks(&self, page: PageFields<'_>) -> Result<ListPage<Callback>, Error> {
        let scope = self.scope();
        let page = self.key_page(page, List::OwnDeadCallbacks)?;
        within(callbacks::dead(&scope, self.account, page)).await
    }

    /// Returns a page of the recorded attempts at the account's callbacks, latest messages first.
    pub async fn callback_attempts(
        &self,
        fields: &FilterFields,
        page: PageFields<'_>,
    ) -> Result<ListPage<CallbackAttempt>, Error> {
        let message = read_message(fields)?;
        let scope = self.scope();
        let page = self.key_page(page, List::OwnAttempts)?;
        within(callbacks::attempts(&scope, self.account, message, page)).await
    }

    /// Returns a page of the account's sub-accounts, newest first.
    pub async fn sub_accounts(&self, page: PageFields<'_>) -> Result<ListPage<SubAccount>, Error> {
        let scope = self.scope();
        let page = self.key_page(page, List::SubAccounts)?;
        within(owned::sub_accounts(&scope, self.account, page)).await
    }

    /// Returns one sub-account of the account.
    pub async fn sub_account(&self, id: &str) -> Result<SubAccount, Error> {
        let unknown = || Refusal::Object(ObjectRefusal::UnknownSubAccount);
        let id = id.parse().map_err(|_| unknown())?;
        let found = self.context.store.sub_accounts().find(self.account, id);
        let found = within(async { Ok(found.await?) }).await?;
        Ok(found.ok_or_else(unknown)?)
    }

    /// Returns the queries of a sub-account of the account, or these if none is named.
    pub async fn of_sub_account(self, id: Option<&str>) -> Result<Self, Error> {
        let Some(id) = id.map(str::trim).filter(|id| !id.is_empty()) else {
            return Ok(self);
        };
        let account = self.sub_account(id).await?.account.id;
        Ok(Self { account, ..self })
    }

    fn key_page<K: DeserializeOwned>(
        &self,
        page: PageFields<'_>,
        list: List,
    ) -> Result<KeyPage<K>, Refusal> {
        let cursor_scope = self.scope().cursor_scope(None);
        KeyPage::read(page.limit, page.cursor, list, &cursor_scope)
    }

    /// Returns a page of the groups of a usage report.
    pub async fn usage(
        &self,
        fields: &FilterFields,
        page: PageFields<'_>,
    ) -> Result<ListPage<Usage>, Error> {
        let filter = UsageFilter::read(fields)?;
        let scope = self.scope();
        let cursor_scope = scope.cursor_scope(None);
        let page = Page::read(page.limit, page.cursor, List::Usage, &cursor_scope)?;
        within(usage::list(&scope, filter, page)).await
    }

    /// Returns the usage since a time within the limits of an overview, by hours or days, by gateway
    /// and by network.
    pub async fn usage_overview(&self, since_ms: i64, by: UsageBy) -> Result<UsageOverview, Error> {
        within(self.overviews.read(&self.scope(), since_ms, by)).await
    }

    /// Returns an export of recipients as CSV.
    pub fn export_recipients(&self, fields: &FilterFields) -> Result<Export, Refusal> {
        let filter = MessageFilter::read(fields, self.environment)?;
        Ok(Export::new(
            self.clone(),
            Rows::Recipients(RecipientsExport::new(filter)),
        ))
    }

    /// Returns an export of the recipients of one message as CSV.
    pub async fn export_message(&self, id: &str) -> Result<Export, Error> {
        let export = RecipientsExport::of_message(self.message(id).await?);
        Ok(Export::new(self.clone(), Rows::Recipients(export)))
    }

    /// Returns an export of the entries of the wallet as CSV.
    pub fn export_wallet(&self, fields: &FilterFields) -> Result<Export, Refusal> {
        let filter = WalletFilter::read(fields)?;
        Ok(Export::new(
            self.clone(),
            Rows::Wallet(WalletExport::new(self.account, filter)),
        ))
    }

    /// Returns an export of the opt-outs as CSV.
    pub fn export_opt_outs(&self) -> Export {
        let rows = Rows::OptOuts(OptOutsExport::new(self.account));
        Export::new(self.clone(), rows)
    }

    /// Returns the wallet. The sandbox has a simulated one.
    pub async fn balance(&self) -> Result<Purse, Error> {
        Ok(self.wallet().await?.0)
    }

    /// Returns the balances of the wallet, and its daily limit with what was spent.
    pub(super) async fn wallet(&self) -> Result<(Purse, Option<Spending>), Error> {
        if self.environment == Environment::Sandbox {
            return Ok((simulated::purse(), None));
        }
        let wallet = self.context.store.wallets().state(self.account);
        let wallet = within(async { Ok(wallet.await?) }).await?;
        Ok(wallet.map_or_else(Default::default, |(purse, spending)| {
            (purse, Some(spending))
        }))
    }

    fn scope(&self) -> Scope<'_> {
        let rules = &self.live.plan.rules;
        Scope {
            store: &self.context.store,
            account: Some(self.account),
            environment: self.environment,
            now_ms: self.context.clock.now_ms(),
            plan: &rules.plan,
            rules: Some(rules),
        }
    }
}

/// The rows of an export.
enum Rows {
    Recipients(RecipientsExport),
    Wallet(WalletExport),
    OptOuts(OptOutsExport),
}

/// An export, which is read in batches of rows.
pub struct Export {
    queries: CustomerQueries,
    rows: Rows,
    pace: ExportPace,
}

impl Export {
    fn new(queries: CustomerQueries, rows: Rows) -> Self {
        let pace = ExportPace::default();
        Self {
            queries,
            rows,
            pace,
        }
    }

    /// Returns the next rows, or `None` at the end. While small sends arrive, the export waits
    /// between its batches.
    pub async fn next(&mut self) -> Result<Option<String>, Error> {
        let scope = self.queries.scope();
        let context = &self.queries.context;
        let is_urgent = context.commit_share.is_urgent(scope.now_ms);
        sleep(self.pace.wait(is_urgent)).await;
        let began_ms = context.clock.steady_ms();
        let next = match &mut self.rows {
            Rows::Recipients(export) => within(export.next(&scope)).await,
            Rows::Wallet(_) if scope.environment == Environment::Sandbox => Ok(None),
            Rows::Wallet(export) => within(export.next(&scope)).await,
            Rows::OptOuts(export) => within(export.next(&scope)).await,
        };
        self.pace.note(context.clock.steady_ms() - began_ms);
        next
    }
}
