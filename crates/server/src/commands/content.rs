//! `ogene content`

use super::answer::{Answer, Failure};
use super::context::Context;
use super::list::{PageArgs, Row};
use crate::format::lagos_time;
use clap::Subcommand;
use domain::Text;
use engine::operators::{Phrase, prohibiting};
use serde::Serialize;
use serde_json::json;

#[derive(Subcommand)]
pub(super) enum Content {
    /// Prohibit a phrase: within a second, texts with it are refused (API-2010)
    #[command(
        after_help = "The phrase matches whole words. Case, accents and the characters between words are ignored.\n\n\
        Example: ogene content add \"double your money\""
    )]
    Add {
        /// The phrase: one word or more
        phrase: String,
    },
    /// Remove a phrase that was added
    #[command(after_help = "Example: ogene content remove \"double your money\"")]
    Remove {
        /// The phrase as listed; case is ignored
        phrase: String,
    },
    /// List all phrases: those of the configuration, then added ones
    #[command(after_help = "Example: ogene content list")]
    List {
        #[command(flatten)]
        page: PageArgs,
    },
    /// Test a text: print whether it would be refused, and for which phrase
    #[command(
        after_help = "The exit code is 1 if the text would be refused. The check for transactional texts (API-2013) is not \
        made.\n\nExample: ogene content test \"Double your money today\""
    )]
    Test {
        /// The text, as it would be sent
        text: String,
        /// Test the text as sent with `unicode`, without its conversion to plain text
        #[arg(long)]
        unicode: bool,
    },
}

impl Content {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let configured = context.config()?.prohibited;
        let operations = context.open().await?;
        match self {
            Self::Add { phrase } => {
                let phrase = operations.content().add(&phrase).await?;
                let text = format!("Texts with `{phrase}` are refused from now on.");
                Answer::new(text, &json!({ "phrase": phrase }))
            }
            Self::Remove { phrase } => {
                let phrase = operations.content().remove(&phrase).await?;
                let text = format!("`{phrase}` is no longer prohibited.");
                Answer::new(text, &json!({ "phrase": phrase }))
            }
            Self::List { page } => {
                let read = async |request| operations.content().list(&configured, &request).await;
                page.print(context, ["ADDED", "PHRASE"], read, listed).await
            }
            Self::Test { text, unicode } => {
                let phrases = operations.content().all(&configured).await?;
                tested(&text, unicode, &phrases)
            }
        }
    }
}

#[derive(Serialize)]
struct RuleJson {
    phrase: String,
    /// Absent for one of the configuration.
    added_at: Option<String>,
}

impl From<&Phrase> for RuleJson {
    fn from(rule: &Phrase) -> Self {
        Self {
            phrase: rule.phrase.clone(),
            added_at: rule.added_at_ms.map(lagos_time),
        }
    }
}

fn listed(phrase: &Phrase) -> Result<Row<2>, Failure> {
    let rule = RuleJson::from(phrase);
    Row::new(&rule, [place(&rule).to_owned(), rule.phrase.clone()])
}

/// Returns the time since which a rule applies, or its place in the configuration.
fn place(rule: &RuleJson) -> &str {
    rule.added_at.as_deref().unwrap_or("configuration")
}

fn tested(text: &str, unicode: bool, phrases: &[Phrase]) -> Result<Answer, Failure> {
    let Some(text) = Text::prepare(text, unicode) else {
        return Err(Failure::usage(
            "nothing is left of the text when it is made plain",
        ));
    };
    match prohibiting(phrases, &text).map(RuleJson::from) {
        None => Answer::new("No phrase is found.", &json!({ "refused": false })),
        Some(rule) => {
            let said = format!("Refused for `{}` ({}).", rule.phrase, place(&rule));
            let json = json!({ "refused": true, "phrase": rule.phrase, "added_at": rule.added_at });
            Ok(Answer::new(said, &json)?.failing())
        }
    }
}
