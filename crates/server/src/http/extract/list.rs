//! The fields of a list: its filters, its limit and its cursor, from the query string.

use super::fields::Bounds;
use super::form;
use super::object_body;
use domain::Refusal;
use domain::search::FilterFields;
use engine::PageFields;

/// The raw fields of a list.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct ListFields {
    pub(crate) filter: FilterFields,
    /// The sub-account whose rows are asked for.
    pub(crate) sub_account_id: Option<String>,
    limit: Option<String>,
    cursor: Option<String>,
}

impl ListFields {
    /// Reads a query string. A name that no list reads is ignored.
    pub(crate) fn read(query: &str) -> Result<Self, Refusal> {
        let mut fields = Self::default();
        let mut repeated = None;
        let bounds = Bounds::new(query.len());
        let others = form::read_with(query.as_bytes(), &bounds, |name, value| {
            let Some(slot) = fields.slot(name) else {
                return;
            };
            match slot {
                Some(kept) if kept.trim() != value.trim() => {
                    repeated.get_or_insert_with(|| name.trim().to_owned());
                }
                _ => *slot = Some(value),
            }
        });
        others?;
        match repeated {
            None => Ok(fields),
            Some(name) => Err(object_body::repeated(&name)),
        }
    }

    /// Returns the requested page.
    pub(crate) fn page(&self) -> PageFields<'_> {
        PageFields {
            limit: self.limit.as_deref(),
            cursor: self.cursor.as_deref(),
        }
    }

    fn slot(&mut self, name: &str) -> Option<&mut Option<String>> {
        let filter = &mut self.filter;
        Some(match name.trim() {
            "since" => &mut filter.since,
            "until" => &mut filter.until,
            "recipient" => &mut filter.recipient,
            "sender" => &mut filter.sender,
            "gateway" => &mut filter.gateway,
            "state" => &mut filter.state,
            "delivery_status" => &mut filter.delivery_status,
            "customer_reference" => &mut filter.customer_reference,
            "kind" => &mut filter.kind,
            "message_id" => &mut filter.message_id,
            "by" => &mut filter.by,
            "number" => &mut filter.number,
            "keyword" => &mut filter.keyword,
            "sub_account_id" => &mut self.sub_account_id,
            "limit" => &mut self.limit,
            "cursor" => &mut self.cursor,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reads_its_own_names_alone() {
        let query =
            "since=2027-01-31+18:00:00&limit=5&cursor=abc&api_token=x&other=1&sender=A&sender=A";
        let fields = ListFields::read(query).unwrap();
        assert_eq!(fields.filter.since.as_deref(), Some("2027-01-31 18:00:00"));
        assert_eq!(fields.filter.sender.as_deref(), Some("A"));
        assert_eq!(fields.page().limit, Some("5"));
        assert_eq!(fields.page().cursor, Some("abc"));
    }

    #[test]
    fn a_filter_with_two_values_is_refused() {
        let refusal = ListFields::read("sender=A&sender=B").unwrap_err();
        assert!(
            refusal
                .to_string()
                .contains("`sender` is given more than once")
        );
        assert!(ListFields::read("sender=%FF").is_err());
    }
}
