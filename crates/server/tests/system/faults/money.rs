//! The workload of money at one point: the fault, the restart, and the judgement.

use super::daemon::Daemon;
use super::deals::{self, Deals, Doors, Parties};
use super::esme::User;
use super::invariants;
use super::kept::Kept;
use super::points::{self, Point};
use super::provider::Provider;
use super::runner::Trial;
use super::trial::{Life, Stage, end_well};
use crate::customer::{Client, Customer, wait_until};
use crate::installation::Installation;
use std::thread;
use std::time::{Duration, Instant};

/// Time in which payments and outcomes must arrive before the service is asked to end.
const FIRST_TIMEOUT: Duration = Duration::from_secs(4);
const LONG_TIMEOUT: Duration = Duration::from_mins(1);

/// An installation with a parent, its sub-account and an SMPP user.
pub(crate) struct Desk {
    kept: Kept,
    parties: Parties,
}

/// The peers of a copy: the carrier and the payment provider.
struct Peers {
    provider: Provider,
    _stage: Stage,
}

impl Peers {
    fn set(ogene: &Installation) -> Self {
        let provider = Provider::start();
        let more = format!(
            "[smpp_server]\nlisten = \"127.0.0.1:0\"\n{}",
            provider.sections()
        );
        let http = "public_url = \"http://sms.example.ng\"";
        Self {
            _stage: Stage::configured(ogene, http, &more),
            provider,
        }
    }
}

/// Returns the addresses of a service, or `None` if it has ended.
fn doors(service: &mut Daemon) -> Option<Doors> {
    let http = service.address.clone()?;
    let mark = "\"smpp.address\":\"";
    let mut smpp = None;
    wait_until("it serves SMPP", || {
        let log = service.log();
        let named = log.split_once(mark).and_then(|(_, rest)| {
            let (address, _) = rest.split_once('"')?;
            Some(address.to_owned())
        });
        smpp = named;
        smpp.is_some() || service.has_ended()
    });
    Some(Doors { http, smpp: smpp? })
}

impl Desk {
    pub(crate) fn new(kept: Kept) -> Self {
        let ogene = kept.original();
        let _peers = Peers::set(ogene);
        let user = User::new(ogene, &kept.customer);
        let mut service = Daemon::start(ogene.command(&["serve"]));
        let doors = doors(&mut service).expect("it serves");
        let mut client = Client::new(&doors.http, &kept.customer.token);
        let mut ask = |line: &str, body: &str| {
            let answer = client.request(line, body).expect("an answer");
            assert_eq!(answer.status, 200, "{}", answer.body);
            answer.body
        };
        let fields = r#"{"name": "Foods", "email": "foods@example.ng"}"#;
        let made = ask("POST /api/v2/sub-accounts", fields);
        let text = |name: &str| made["data"][name].as_str().expect("a text").to_owned();
        let sub = Customer {
            account: text("sub_account_id"),
            token: text("token"),
        };
        let line = format!("PATCH /api/v2/sub-accounts/{}", sub.account);
        ask(&line, r#"{"prices": {"direct-refund": "8.00"}}"#);
        end_well(service, ogene);
        let of = ["--account", sub.account.as_str()];
        let sender = ["sender-id", "register", "--sender-id", "AdaFoods"];
        ogene.json(&[&sender[..], &["--purpose", "Orders"], &of].concat());
        let approve = ["sender-id", "approve", "--sender-id", "AdaFoods"];
        ogene.json(&[&approve[..], &of].concat());
        let parent = Customer {
            account: kept.customer.account.clone(),
            token: kept.customer.token.clone(),
        };
        Self {
            parties: Parties { parent, sub, user },
            kept,
        }
    }

    /// Runs the workload once, and waits until it is over or the service has ended.
    fn live(&self, ogene: &Installation, peers: &Peers, point: Option<&Point>) -> (Deals, Life) {
        let mut deals = Deals::default();
        let (command, patience) = match point {
            Some(point) => (point.serve(ogene), FIRST_TIMEOUT),
            None => (points::recorded(ogene), LONG_TIMEOUT),
        };
        let mut service = Daemon::start(command);
        if let Some(doors) = doors(&mut service) {
            let is_whole = deals.run(&self.parties, &doors, &peers.provider);
            assert!(is_whole || point.is_some(), "each request succeeds");
            let end = Instant::now() + patience;
            while !service.has_ended()
                && !deals::is_over(&self.parties, &doors)
                && Instant::now() < end
            {
                thread::park_timeout(Duration::from_millis(20));
            }
        }
        let life = Life::end(service, ogene, point);
        (deals, life)
    }
}

impl Trial for Desk {
    fn kept(&self) -> &Kept {
        &self.kept
    }

    fn record(&self) -> Vec<Point> {
        let (ogene, _database) = self.kept.copy();
        let peers = Peers::set(&ogene);
        let (_, life) = self.live(&ogene, &peers, None);
        assert!(life.code == Some(0), "{life:?}");
        points::all(&ogene)
    }

    fn attempt(&self, point: &Point) -> Option<bool> {
        let (ogene, _database) = self.kept.copy();
        let peers = Peers::set(&ogene);
        let (mut deals, life) = self.live(&ogene, &peers, Some(point));
        let reached = life.reached(&ogene, point);
        invariants::ended_as_it_should(point, reached, &life);
        let mut service = Daemon::start(ogene.command(&["serve"]));
        let doors = doors(&mut service).expect("it serves again");
        wait_until("each request succeeds", || {
            deals.run(&self.parties, &doors, &peers.provider)
        });
        deals::wait_until_over(&self.parties, &doors);
        deals.run(&self.parties, &doors, &peers.provider);
        deals.judge(&self.parties, &doors, |account| {
            ogene.rows(&["wallet", "statement", "--account", account])
        });
        end_well(service, &ogene);
        Some(reached)
    }
}
