//! The control of carriers by operators: one row for each carrier that does not run by its
//! configuration alone.

use crate::accounts::revision::touch;
use crate::operators::audit::{self, By, Entry};
use database::{Change, Db, Error, Result, Tx, query};
use domain::carrier_control::{CarrierChange, CarrierControl, CarrierMode};
use serde_json::{Value, json};

/// A carrier under control.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ControlledCarrier {
    /// The name in the configuration.
    pub carrier: String,
    /// The control.
    pub control: CarrierControl,
    /// The time of the last change, Unix milliseconds.
    pub changed_at_ms: i64,
    /// The operator who made it, as in the audit.
    pub changed_by: String,
}

struct Row {
    carrier: String,
    mode: String,
    max_per_second: Option<i64>,
    changed_at_ms: i64,
    changed_by: String,
}

database::from_row!(Row {
    carrier,
    mode,
    max_per_second,
    changed_at_ms,
    changed_by
});

impl TryFrom<Row> for ControlledCarrier {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        let unreadable = || Error::Unreadable("the control of a carrier".to_owned());
        let limit = row.max_per_second.map(u32::try_from).transpose();
        Ok(Self {
            carrier: row.carrier,
            control: CarrierControl {
                mode: CarrierMode::from_name(&row.mode).ok_or_else(unreadable)?,
                max_per_second: limit.map_err(|_| unreadable())?,
            },
            changed_at_ms: row.changed_at_ms,
            changed_by: row.changed_by,
        })
    }
}

/// Returns the name of a change in the audit.
const fn verb(change: CarrierChange) -> &'static str {
    match change {
        CarrierChange::Pause => "carrier.pause",
        CarrierChange::Drain => "carrier.drain",
        CarrierChange::Resume => "carrier.resume",
        CarrierChange::Throttle(_) => "carrier.throttle",
    }
}

struct Control {
    carrier: String,
    change: CarrierChange,
    by: By,
}

/// Returns the control of a carrier.
async fn control_of(tx: &mut Tx, carrier: &str) -> Result<CarrierControl> {
    let read = query(
        "select carrier, mode, max_per_second, changed_at_ms, changed_by
         from carrier_controls where carrier = $1",
    );
    let row: Option<Row> = tx.fetch_optional(read.bind(carrier)).await?;
    let found = row.map(ControlledCarrier::try_from).transpose()?;
    Ok(found.map_or_else(CarrierControl::default, |found| found.control))
}

impl Control {
    async fn keep(&self, tx: &mut Tx, control: CarrierControl) -> Result<()> {
        if control == CarrierControl::default() {
            let remove = query("delete from carrier_controls where carrier = $1");
            tx.execute(remove.bind(&self.carrier)).await?;
            return Ok(());
        }
        let keep = query(
            "insert into carrier_controls
                 (carrier, mode, max_per_second, changed_at_ms, changed_by)
             values ($1, $2, $3, $4, $5)
             on conflict (carrier) do update set mode = excluded.mode,
                 max_per_second = excluded.max_per_second,
                 changed_at_ms = excluded.changed_at_ms, changed_by = excluded.changed_by",
        );
        let keep = keep
            .bind(&self.carrier)
            .bind(control.mode.as_str())
            .bind(control.max_per_second.map(i64::from))
            .bind(self.by.at_ms)
            .bind(&*self.by.actor);
        tx.execute(keep).await?;
        Ok(())
    }
}

fn told(control: CarrierControl) -> Value {
    json!({ "mode": control.mode.as_str(), "max_per_second": control.max_per_second })
}

impl Change for Control {
    /// The control after the change, and `true` if it is another one than before.
    type Output = (CarrierControl, bool);

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        // Changes of two operators follow each other, since both raise the revision first.
        touch(tx).await?;
        let before = control_of(tx, &self.carrier).await?;
        let after = before.after(self.change);
        if after == before {
            return Ok((after, false));
        }
        self.keep(tx, after).await?;
        let entry = Entry {
            by: &self.by,
            verb: verb(self.change),
            account: None,
            object: &self.carrier,
            before: told(before),
            after: told(after),
        };
        audit::enter(tx, entry).await?;
        Ok((after, true))
    }

    async fn is_committed(&self, tx: &mut Tx, (_, changed): &Self::Output) -> Result<bool> {
        let verb = verb(self.change);
        Ok(!changed || audit::is_kept(tx, &self.by, verb, &self.carrier).await?)
    }
}

struct NoteTest {
    carrier: String,
    recipient: String,
    by: By,
}

impl Change for NoteTest {
    /// The control of the carrier. The test is entered if the carrier submits.
    type Output = CarrierControl;

    async fn apply(&self, tx: &mut Tx) -> Result<CarrierControl> {
        let control = control_of(tx, &self.carrier).await?;
        if control.submits() {
            let entry = Entry {
                by: &self.by,
                verb: "carrier.test",
                account: None,
                object: &self.carrier,
                before: Value::Null,
                after: json!({ "recipient": self.recipient }),
            };
            audit::enter(tx, entry).await?;
        }
        Ok(control)
    }

    async fn is_committed(&self, tx: &mut Tx, control: &CarrierControl) -> Result<bool> {
        let is_kept = audit::is_kept(tx, &self.by, "carrier.test", &self.carrier);
        Ok(!control.submits() || is_kept.await?)
    }
}

/// The control of carriers.
#[derive(Clone, Copy)]
pub struct CarrierControls<'s> {
    pub(crate) db: &'s Db,
}

impl CarrierControls<'_> {
    /// Changes the control of a carrier. Returns it after the change.
    pub async fn change(
        self,
        carrier: String,
        change: CarrierChange,
        by: By,
    ) -> Result<CarrierControl> {
        let control = Control {
            carrier,
            change,
            by,
        };
        let (after, _) = self.db.change(control).await?;
        Ok(after)
    }

    /// Enters a test of a carrier into the audit, unless the carrier is stopped. Returns the control
    /// of the carrier. `recipient` is masked.
    pub async fn note_test(
        self,
        carrier: String,
        recipient: String,
        by: By,
    ) -> Result<CarrierControl> {
        let test = NoteTest {
            carrier,
            recipient,
            by,
        };
        self.db.change(test).await
    }

    /// Returns all carriers under control, in alphabetical order. There are few.
    pub async fn all(self) -> Result<Vec<ControlledCarrier>> {
        let read = query(
            "select carrier, mode, max_per_second, changed_at_ms, changed_by
             from carrier_controls",
        );
        let rows: Vec<Row> = self.db.fetch_all(read).await?;
        let all = rows.into_iter().map(ControlledCarrier::try_from);
        let mut all: Vec<_> = all.collect::<Result<_>>()?;
        // They are sorted here, because the databases differ in their order.
        all.sort_by(|one, other| one.carrier.cmp(&other.carrier));
        Ok(all)
    }
}
