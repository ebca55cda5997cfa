//! The parts that the operations on the objects of an account share: lists, additions, and changes
//! of one object.

use super::draft::Draft;
use super::parameters::idempotency_key;
use super::queries::{InPath, list, path};
use super::request::with_token;
use crate::http::docs::installation::Installation;
use domain::Environment;
use engine::ListPage;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{HttpMethod, OperationBuilder, Paths};
use utoipa::openapi::request_body::RequestBody;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

/// Further codes of a list.
pub(super) const OF_LISTS: [&str; 1] = ["API-2000"];
/// Further codes of a change.
pub(super) const OF_CHANGES: [&str; 5] =
    ["API-2000", "API-2007", "API-2016", "API-2017", "API-2018"];

/// The paths of an environment, which get operations.
pub(super) struct EnvironmentPaths<'p> {
    pub(super) paths: &'p mut Paths,
    pub(super) prefix: &'p str,
}

impl EnvironmentPaths<'_> {
    fn add(&mut self, path: &str, method: HttpMethod, operation: OperationBuilder) {
        let path = format!("{}{path}", self.prefix);
        let operation = operation.build();
        self.paths.add_path_operation(path, vec![method], operation);
    }

    pub(super) fn get(&mut self, path: &str, operation: OperationBuilder) {
        self.add(path, HttpMethod::Get, operation);
    }

    pub(super) fn post(&mut self, path: &str, operation: OperationBuilder) {
        self.add(path, HttpMethod::Post, operation);
    }

    pub(super) fn patch(&mut self, path: &str, operation: OperationBuilder) {
        self.add(path, HttpMethod::Patch, operation);
    }

    pub(super) fn delete(&mut self, path: &str, operation: OperationBuilder) {
        self.add(path, HttpMethod::Delete, operation);
    }
}

/// Builds the operation that lists objects, without filters.
pub(super) fn list_of(draft: Draft, environment: Environment) -> OperationBuilder {
    let operation = draft.build("", environment);
    operation.parameters(Some(list(&[])))
}

/// Builds an operation whose request has a body.
pub(super) fn addition(
    draft: Draft,
    environment: Environment,
    installation: &Installation,
    body: RequestBody,
) -> OperationBuilder {
    draft
        .build("", environment)
        .parameters(Some([idempotency_key(installation)]))
        .request_body(Some(body))
}

/// Builds an operation that changes the object in its path.
pub(super) fn change_of_one(
    draft: Draft,
    in_path: InPath,
    installation: &Installation,
) -> OperationBuilder {
    let mut parameters = path(&[in_path]);
    parameters.push(idempotency_key(installation));
    let operation = draft.build("", Environment::Live);
    operation.parameters(Some(parameters))
}

/// Returns a page that has one object.
pub(super) fn one_page<T>(item: T) -> ListPage<T> {
    ListPage {
        items: vec![item],
        next_cursor: None,
    }
}

/// Returns the schema of a text.
pub(super) fn text(about: &str) -> ObjectBuilder {
    of(Type::String, about)
}

/// Returns the schema of a value of this type.
pub(super) fn of(kind: Type, about: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(kind)
        .description(Some(about.to_owned()))
}

/// Returns the schema of a request with its name. Every request may have the token.
pub(super) fn request(
    name: &'static str,
    object: ObjectBuilder,
    installation: &Installation,
) -> (&'static str, RefOr<Schema>) {
    let schema: Schema = with_token(object, installation).build().into();
    (name, schema.into())
}
