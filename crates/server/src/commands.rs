//! The commands of `ogene`. Each noun has a file. A command returns an [`Answer`] or a [`Failure`],
//! and only this file writes them.

mod account;
mod answer;
mod arguments;
mod audit;
mod backup;
mod callback;
mod carrier;
mod config;
mod content;
mod context;
mod demo;
mod dnd;
mod export;
mod import_sqlite;
mod inbound;
mod list;
mod manual;
mod message;
mod migrate;
mod opt_out;
mod queries;
mod restore;
mod revenue;
mod sender_id;
mod serve;
mod signals;
mod smpp_user;
mod smsc;
mod sub_account;
mod token;
mod top_up;
mod usage;
mod user;
mod velocity;
mod verify;
mod wallet;

use crate::config::LogFormat;
use crate::logs;
use answer::{Answer, Failure};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use context::{Context, Global};
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

const AFTER_HELP: &str = "A variable can set every key of the configuration: OGENE_HTTP_LISTEN=0.0.0.0:8080, \
    OGENE_CARRIERS_MTN_PASSWORD=…\nExit codes: 0; 1 for a failure; 2 for a wrong command line or configuration.";

/// Maximum threads that take over the other work of a thread that reads from SQLite (decision
/// 0010). If none is free, that work waits for the read. Without a limit, a machine short of
/// processors had a hundred threads, each with memory of its own.
const MAX_THREADS: usize = 16;
/// The time after which an idle thread ends. Each has memory of its own, and an idle service reads
/// once a second.
const THREAD_KEEP_ALIVE: Duration = Duration::from_millis(500);

/// Ogene: bulk SMS in one binary. An HTTP API, prepaid wallets, SMPP to the carriers, receipts and refunds.
///
/// `ogene demo` shows it at work. To run it: `ogene config default > ogene.toml`, edit, `ogene serve`.
#[derive(Parser)]
#[command(
    name = "ogene",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = AFTER_HELP
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the service: API, carriers, receipts and callbacks
    #[command(
        after_help = "SIGTERM or Ctrl-C stops the service once submits and callbacks in flight are finished, \
        within 10 s. A second signal stops it at once. SIGHUP makes it read its configuration again (see `ogene config reload --help`).\n\nExample: ogene serve --config /etc/ogene/ogene.toml"
    )]
    Serve,
    /// Run the service with an SMSC simulator and an account with credit, without any configuration
    Demo(demo::Demo),
    /// Print the default configuration, check a configuration, or reload that of running nodes
    #[command(subcommand)]
    Config(config::Config),
    /// Create or upgrade the database (`serve` does this by itself)
    #[command(
        after_help = "Examples: ogene migrate --config /etc/ogene/ogene.toml\n          ogene migrate --citus | psql \"$URL\""
    )]
    Migrate(migrate::Migrate),
    /// Move an installation from its embedded database to PostgreSQL
    #[command(name = "import-sqlite", after_help = import_sqlite::AFTER_HELP)]
    ImportSqlite(import_sqlite::ImportSqlite),
    /// Back up an embedded database into one file, while the service runs
    #[command(after_help = backup::AFTER_HELP)]
    Backup(backup::Backup),
    /// Restore the database of `data_dir` from a backup
    #[command(after_help = restore::AFTER_HELP)]
    Restore(restore::Restore),
    /// Accounts of customers: create, list, show, set status, daily limit and verification
    #[command(subcommand)]
    Account(account::Account),
    /// API tokens: create, list, revoke
    #[command(subcommand)]
    Token(token::Token),
    /// SMPP users: create, list, show, revoke, set limits
    #[command(subcommand, name = "smpp-user")]
    SmppUser(smpp_user::SmppUser),
    /// Sub-accounts of customers: list, show, create, change, transfer
    #[command(subcommand, name = "sub-account")]
    SubAccount(sub_account::SubAccountCommand),
    /// Users of the console: create, list, invite, reset, disable
    #[command(subcommand)]
    User(user::User),
    /// Sender IDs: register, approve, reject, suspend, list
    #[command(subcommand, name = "sender-id")]
    SenderId(sender_id::SenderId),
    /// Wallets: credit, debit, statement
    #[command(subcommand)]
    Wallet(wallet::Wallet),
    /// Top-ups over payment providers: list, accept or reject payments that do not fit
    #[command(subcommand, name = "top-up")]
    TopUp(top_up::TopUps),
    /// Messages of all accounts: list, show what happened to one and why
    #[command(subcommand)]
    Message(message::Message),
    /// Inbound messages: list them, and route numbers and keywords to accounts
    #[command(subcommand)]
    Inbound(inbound::Inbound),
    /// Numbers that opted out of the messages of an account: add, list, remove
    #[command(subcommand, name = "opt-out")]
    OptOut(opt_out::OptOuts),
    /// Numbers on DND, which gateways may leave out of sends: import, add, remove, count
    #[command(subcommand)]
    Dnd(dnd::Dnd),
    /// Write recipients or the entries of a wallet as CSV
    #[command(subcommand)]
    Export(export::Export),
    /// Add up messages and money by time, gateway, network or sender ID
    #[command(after_help = usage::AFTER_HELP)]
    Usage(usage::Usage),
    /// Add up by month what customers paid in and spent
    #[command(after_help = revenue::AFTER_HELP)]
    Revenue(revenue::Revenue),
    /// Callbacks: list failed attempts and dead callbacks, replay them, manage signing secrets
    #[command(subcommand)]
    Callback(callback::Callback),
    /// Carriers: list, pause, drain, resume, throttle, test
    #[command(subcommand)]
    Carrier(carrier::Carrier),
    /// Prohibited phrases: add, remove, list, test a text
    #[command(subcommand)]
    Content(content::Content),
    /// Blocks of numbers that are paused for an account (velocity limit): list, release
    #[command(subcommand)]
    Velocity(velocity::Velocity),
    /// Show the changes of operators: time, user, old and new values
    #[command(after_help = audit::AFTER_HELP)]
    Audit(audit::Audit),
    /// Run an SMSC simulator: a carrier on real SMPP with configured receipts and faults
    Smsc(Box<smsc::Smsc>),
    /// Recompute every balance from the ledger and check every invariant
    #[command(after_help = VERIFY_AFTER_HELP)]
    Verify,
    /// Print the completions of a shell
    #[command(after_help = manual::COMPLETIONS_AFTER_HELP)]
    Completions(manual::Completions),
    /// Write the manual pages ogene(1), ogene-serve(1) and so on into a directory
    #[command(after_help = manual::MANUAL_AFTER_HELP)]
    Manual(manual::Manual),
}

const VERIFY_AFTER_HELP: &str = "\
The exit code is 0 if no invariant is violated, and 1 if one is or the database cannot be read. Each violation is named.
With --json, `violations` lists them, `ok` is the result, and the other fields are counts.

The checks see one moment of the database. The service may run meanwhile:
  - each component of each wallet is the sum of its ledger entries, and not negative
  - each live message was charged its cost: that of its recipients, by whole pages of its text
  - no refund exceeds its charge or lacks an outcome, and no refund is missing
  - the sandbox has no ledger entries; no account was charged more in a day than its wallet has counted
  - triggers keep ledger and audit from being changed, and the audit has no gap
  - each recipient is queued, in flight or has an outcome, and none is past its time without one
  - each queued callback has the outcome of its recipient

The checks cannot see what leaves no rows: the prices of the day, the number of submits, an earlier status, or a
missing callback (a delivered one leaves no row either).

Example: ogene verify --json";

/// Runs the command that `arguments` name, writes its answer, and returns the exit code: 0, 1 for a
/// failure, 2 for a wrong command line or configuration.
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> ExitCode {
    let arguments: Vec<_> = arguments.into_iter().collect();
    let (mut out, mut err) = (io::stdout(), io::stderr());
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => {
            return written(error.print());
        }
        // A line without a command asks for the list of commands.
        Err(error) if is_bare(&error, &arguments) => {
            return written(write!(out, "{}", error.render()));
        }
        Err(error) => {
            let json = arguments.iter().any(|argument| argument == "--json");
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
            return Failure::usage(text).write(json, &mut err);
        }
    };
    let context = Context {
        global: cli.global,
        variables: variables.into_iter().collect(),
    };
    let is_service = matches!(cli.command, Command::Serve);
    let done = execute(cli.command, &context);
    // The last lines of the log are written before the answer.
    logs::flush();
    match done {
        Ok(answer) => match answer.write(context.global.json, &mut out) {
            Ok(()) => answer.exit,
            failed => written(failed),
        },
        Err(failure) => {
            // A service writes failures to its log only, also before it has read the form of the
            // log.
            let form = logs::form().or(is_service.then(|| logs::Form::of(LogFormat::Auto)));
            match form {
                Some(form) => failure.log(form, context.global.json),
                None => failure.write(context.global.json, &mut err),
            }
        }
    }
}

/// Returns `true` if the line names no command, so that clap made the help for it.
fn is_bare(error: &clap::Error, arguments: &[OsString]) -> bool {
    let has_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    has_help && arguments.len() <= 1
}

fn execute(command: Command, context: &Context) -> Result<Answer, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(MAX_THREADS)
        .thread_keep_alive(THREAD_KEEP_ALIVE)
        .build()?;
    let done = runtime.block_on(async {
        match command {
            Command::Serve => serve::run(context).await,
            Command::Demo(demo) => demo.run(context).await,
            Command::Config(command) => command.run(context).await,
            Command::Migrate(migrate) => migrate.run(context).await,
            Command::ImportSqlite(import) => import.run(context).await,
            Command::Backup(backup) => backup.run(context).await,
            Command::Restore(restore) => restore.run(context).await,
            Command::Account(command) => command.run(context).await,
            Command::Token(command) => command.run(context).await,
            Command::SmppUser(command) => command.run(context).await,
            Command::SubAccount(command) => command.run(context).await,
            Command::User(command) => command.run(context).await,
            Command::SenderId(command) => command.run(context).await,
            Command::Wallet(command) => command.run(context).await,
            Command::TopUp(command) => command.run(context).await,
            Command::Message(command) => command.run(context).await,
            Command::Inbound(command) => command.run(context).await,
            Command::OptOut(command) => command.run(context).await,
            Command::Dnd(command) => command.run(context).await,
            Command::Export(command) => command.run(context).await,
            Command::Usage(usage) => usage.run(context).await,
            Command::Revenue(revenue) => revenue.run(context).await,
            Command::Callback(command) => command.run(context).await,
            Command::Carrier(command) => command.run(context).await,
            Command::Content(command) => command.run(context).await,
            Command::Velocity(command) => command.run(context).await,
            Command::Audit(audit) => audit.run(context).await,
            Command::Smsc(smsc) => smsc.run(context).await,
            Command::Verify => verify::run(context).await,
            Command::Completions(completions) => completions.run(Cli::command()),
            Command::Manual(manual) => manual.run(Cli::command()),
        }
    });
    // The runtime does not wait for a blocked thread, as the end has a deadline.
    runtime.shutdown_background();
    done
}

/// Returns the exit code of an answer. A closed reader is no failure of ours.
fn written(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests;
