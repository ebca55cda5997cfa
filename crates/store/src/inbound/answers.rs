//! The answers to the commands of subscribers: their texts, and the answers that wait to be sent.

use crate::change_once::ChangeOnce;
use crate::idempotency::{KeyedChange, Outcome};
use crate::operators::audit::{self, By, Entry};
use crate::rows::{id_bytes, message_id, number, recipient};
use database::{Change, Db, Result, Tx, query};
use domain::inbound::{AnswerChange, AnswerTexts};
use domain::{AccountId, MessageId, Recipient, Refusal};
use serde_json::{Value, json};

const VERB: &str = "inbound.answers";

/// An answer that waits to be sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WaitingAnswer {
    /// The inbound message that it answers.
    pub inbound: MessageId,
    /// The account that pays for it.
    pub account: AccountId,
    /// The number that it is sent from.
    pub number: String,
    /// The subscriber.
    pub recipient: Recipient,
    /// The text.
    pub body: String,
    /// The time at which the inbound message was kept, Unix milliseconds.
    pub kept_at_ms: i64,
}

struct AnswerRow {
    inbound_id: Vec<u8>,
    account_id: i64,
    number: String,
    recipient: i64,
    body: String,
    kept_at_ms: i64,
}

database::from_row!(AnswerRow {
    inbound_id,
    account_id,
    number,
    recipient,
    body,
    kept_at_ms
});

impl AnswerRow {
    fn answer(self) -> Result<WaitingAnswer> {
        Ok(WaitingAnswer {
            inbound: message_id(&self.inbound_id)?,
            account: AccountId(self.account_id),
            number: self.number,
            recipient: recipient(self.recipient),
            body: self.body,
            kept_at_ms: self.kept_at_ms,
        })
    }
}

/// Lets an answer wait, in the transaction that keeps its inbound message.
pub(super) async fn insert(tx: &mut Tx, answer: &WaitingAnswer) -> Result<()> {
    let insert = query(
        "insert into waiting_answers (inbound_id, account_id, number, recipient, body, kept_at_ms)
         values ($1, $2, $3, $4, $5, $6)",
    );
    let insert = insert
        .bind(id_bytes(&answer.inbound))
        .bind(answer.account.0);
    let insert = insert.bind(&answer.number).bind(number(answer.recipient));
    tx.execute(insert.bind(&answer.body).bind(answer.kept_at_ms))
        .await?;
    Ok(())
}

/// Returns the texts of an account.
pub(super) async fn texts(tx: &mut Tx, account: AccountId) -> Result<AnswerTexts> {
    let find =
        query("select stop_text, start_text, help_text from answer_texts where account_id = $1");
    let found: Option<(String, String, String)> = tx.fetch_optional(find.bind(account.0)).await?;
    let (stop, start, help) = found.unwrap_or_default();
    Ok(AnswerTexts { stop, start, help })
}

/// Returns the texts of an account, and locks them against another change at the same time.
async fn lock_texts(tx: &mut Tx, account: AccountId) -> Result<AnswerTexts> {
    let first = query(
        "insert into answer_texts (account_id, stop_text, start_text, help_text)
         values ($1, '', '', '') on conflict do nothing",
    );
    tx.execute(first.bind(account.0)).await?;
    let lock = query(
        "update answer_texts set stop_text = stop_text where account_id = $1
         returning stop_text, start_text, help_text",
    );
    let (stop, start, help) = tx.fetch_one(lock.bind(account.0)).await?;
    Ok(AnswerTexts { stop, start, help })
}

struct SetTexts {
    account: AccountId,
    change: AnswerChange,
    by: By,
}

impl Change for SetTexts {
    type Output = std::result::Result<AnswerTexts, Refusal>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        let before = lock_texts(tx, self.account).await?;
        let after = before.clone().with(&self.change);
        let update = query(
            "update answer_texts set stop_text = $2, start_text = $3, help_text = $4
             where account_id = $1",
        );
        let update = update.bind(self.account.0).bind(&after.stop);
        tx.execute(update.bind(&after.start).bind(&after.help))
            .await?;
        let entry = Entry {
            by: &self.by,
            verb: VERB,
            account: Some(self.account),
            object: "",
            before: lengths(&before),
            after: lengths(&after),
        };
        audit::enter(tx, entry).await?;
        Ok(Ok(after))
    }

    async fn is_committed(&self, tx: &mut Tx, made: &Self::Output) -> Result<bool> {
        match made {
            Ok(_) => audit::is_kept(tx, &self.by, VERB, "").await,
            Err(_) => Ok(true),
        }
    }
}

/// Returns the lengths of texts. The audit has no texts.
fn lengths(texts: &AnswerTexts) -> Value {
    let length = |text: &str| text.chars().count();
    json!({
        "stop": length(&texts.stop),
        "start": length(&texts.start),
        "help": length(&texts.help),
    })
}

struct RemoveAnswer {
    inbound: MessageId,
}

impl Change for RemoveAnswer {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let remove = query("delete from waiting_answers where inbound_id = $1");
        Ok(tx.execute(remove.bind(id_bytes(&self.inbound))).await? > 0)
    }
}

/// The answers of all accounts.
#[derive(Clone, Copy)]
pub struct InboundAnswers<'s> {
    pub(crate) db: &'s Db,
}

impl InboundAnswers<'_> {
    /// Returns the texts of an account.
    pub async fn texts(self, account: AccountId) -> Result<AnswerTexts> {
        let mut tx = self.db.read().await?;
        texts(&mut tx, account).await
    }

    /// Changes the texts of an account. Returns them after the change.
    pub async fn set_texts(
        self,
        account: AccountId,
        change: AnswerChange,
        keyed: Option<KeyedChange<AnswerTexts>>,
        by: By,
    ) -> Result<Outcome<AnswerTexts>> {
        let now_ms = by.at_ms;
        let change = SetTexts {
            account,
            change,
            by,
        };
        let once = ChangeOnce::of_account(self.db, (account, now_ms), keyed, change);
        self.db.change(once).await
    }

    /// Returns some answers that wait, behind one, oldest first.
    pub async fn waiting(
        self,
        behind: Option<MessageId>,
        limit: u32,
    ) -> Result<Vec<WaitingAnswer>> {
        let behind = behind.unwrap_or(MessageId::lowest_at(0));
        let find = query(
            "select * from waiting_answers where inbound_id > $1 order by inbound_id limit $2",
        );
        let find = find.bind(id_bytes(&behind)).bind(i64::from(limit));
        let rows: Vec<AnswerRow> = self.db.fetch_all(find).await?;
        rows.into_iter().map(AnswerRow::answer).collect()
    }

    /// Removes an answer that was sent or given up. Returns `false` if it was gone.
    pub async fn remove(self, inbound: MessageId) -> Result<bool> {
        self.db.change(RemoveAnswer { inbound }).await
    }
}
