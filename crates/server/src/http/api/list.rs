//! Pages of lists.

use crate::http::respond::envelope::sandbox_mark;
use domain::Environment;
use serde::Serialize;
use utoipa::ToSchema;

/// A page of a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct List<T> {
    /// The items.
    items: Vec<T>,
    /// The `cursor` of the next page, or null at the end. A filter may end a page early, so only null is the end.
    #[schema(required = true)]
    next_cursor: Option<String>,
    /// True in the sandbox, absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sandbox: Option<bool>,
}

impl<T> List<T> {
    /// Returns the page with items as they are shown.
    pub(crate) fn new<S>(
        found: engine::Listed<S>,
        environment: Environment,
        show: impl FnMut(S) -> T,
    ) -> Self {
        Self {
            items: found.items.into_iter().map(show).collect(),
            next_cursor: found.next_cursor,
            sandbox: sandbox_mark(environment),
        }
    }
}
