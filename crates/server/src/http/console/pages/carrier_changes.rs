//! The control of a carrier by an operator: pause, drain, resume, throttle.

use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::lists::confirm;
use crate::explanation::controlled;
use console::parts::{Confirm, Field, Kind};
use console::screens::{Part, SmallForm};
use domain::carrier_control::{CarrierChange, CarrierMode};
use engine::CarrierState;

/// The address of the list of carriers.
pub(super) const PATH: &str = "/operator/carriers";

/// `POST /operator/carriers/{name}/pause`.
pub(super) async fn pause(visitor: Visitor, _fields: Form) -> Answered {
    change(&visitor, CarrierChange::Pause).await
}

/// `POST /operator/carriers/{name}/drain`.
pub(super) async fn drain(visitor: Visitor, _fields: Form) -> Answered {
    change(&visitor, CarrierChange::Drain).await
}

/// `POST /operator/carriers/{name}/resume`.
pub(super) async fn resume(visitor: Visitor, _fields: Form) -> Answered {
    change(&visitor, CarrierChange::Resume).await
}

/// `POST /operator/carriers/{name}/throttle`.
pub(super) async fn throttle(visitor: Visitor, fields: Form) -> Answered {
    let given = fields.get("per-second").trim();
    let limit = match given {
        "" => Ok(None),
        text => text.parse::<u32>().map(Some),
    };
    match limit {
        Ok(limit) if limit != Some(0) => change(&visitor, CarrierChange::Throttle(limit)).await,
        _ => {
            let path = format!("{PATH}/{}", visitor.param("name"));
            let text = "Give a whole number from 1, or leave it empty to end the throttle.";
            Ok(visitor.refused(&path, text))
        }
    }
}

async fn change(visitor: &Visitor, change: CarrierChange) -> Answered {
    let name = visitor.param("name");
    let rules = visitor.engine().installation().rules().clone();
    let changed = visitor
        .operations()
        .carriers(rules)
        .change(name, change)
        .await;
    let text = changed.as_ref().map(|control| controlled(name, *control));
    let text = text.unwrap_or_default();
    visitor.after(changed, &format!("{PATH}/{name}"), &text)
}

/// Returns the changes of a carrier that are possible now.
pub(super) fn offered(visitor: &Visitor, carrier: &CarrierState) -> Vec<Confirm> {
    let name = &carrier.name;
    let one = |id: &str, action: &str, text: &str| {
        let (title, href) = (format!("{action} {name}?"), format!("{PATH}/{name}/{id}"));
        confirm(visitor, (id, action), (&title, text), &href, &[])
    };
    let pause = || {
        let text = "No node submits any more. Connections stay bound, and receipts are read. \
                    Messages wait, or go to the next carrier of their gateway.";
        one("pause", "Pause", text)
    };
    let drain = || {
        let text = "No node submits any more, and each connection ends once its submits are \
                    answered. The carrier keeps receipts until it is resumed.";
        one("drain", "Drain", text)
    };
    let resume = || one("resume", "Resume", "Waiting messages are submitted again.");
    match carrier.control.mode {
        CarrierMode::Running => vec![pause(), drain()],
        CarrierMode::Paused => vec![resume(), drain()],
        CarrierMode::Drained => vec![resume(), pause()],
    }
}

/// Returns the section with the throttle of a carrier.
pub(super) fn throttled(carrier: &CarrierState) -> Part {
    let limit = carrier
        .control
        .max_per_second
        .map(|limit| limit.to_string());
    let field = Field::new(Kind::Input("number"), "per-second", "Submits a second")
        .optional()
        .value(limit.unwrap_or_default());
    let lead = "The most submits a second of all nodes, below the limit of the configuration. An \
                empty field ends the throttle.";
    let form = SmallForm {
        href: format!("{PATH}/{}/throttle", carrier.name),
        fields: vec![field],
        action: "Throttle".to_owned(),
    };
    Part::form("Throttle", lead, form)
}
