//! Pages of lists.

use crate::http::respond::envelope::sandbox_mark;
use domain::Environment;
use serde::Serialize;
use std::borrow::Cow;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// A page of a list.
#[derive(Serialize)]
pub(crate) struct List<T> {
    /// The items.
    items: Vec<T>,
    /// The `cursor` of the next page, or null at the end. A filter may end a page early, so only null is the end.
    next_cursor: Option<String>,
    /// True in the sandbox, absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<bool>,
}

/// A list has the name of its items, as the schemas of several lists differ.
impl<T: ToSchema> ToSchema for List<T> {
    fn name() -> Cow<'static, str> {
        format!("{}List", T::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
    }
}

impl<T: ToSchema> PartialSchema for List<T> {
    fn schema() -> RefOr<Schema> {
        let item = Ref::from_schema_name(T::name());
        let text_or_null = SchemaType::Array(vec![Type::String, Type::Null]);
        let cursor = ObjectBuilder::new()
            .schema_type(text_or_null)
            .description(Some(
                "The `cursor` of the next page, or null at the end. A filter may end a page early, so only null is the end.",
            ));
        let sandbox = ObjectBuilder::new()
            .schema_type(Type::Boolean)
            .description(Some("True in the sandbox, absent elsewhere."));
        ObjectBuilder::new()
            .description(Some("A page of a list."))
            .property("items", ArrayBuilder::new().items(item))
            .required("items")
            .property("next_cursor", cursor)
            .required("next_cursor")
            .property("sandbox", sandbox)
            .into()
    }
}

impl<T> List<T> {
    /// Returns the page with items as they are shown.
    pub(crate) fn new<S>(
        found: engine::ListPage<S>,
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
