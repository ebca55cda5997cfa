//! The reset of a password that its user forgot, at the sign-in.

use super::error::Result;
use super::sign_in::count;
use super::state::State;
use super::visit::Client;
use crate::operators::{Actor, LinkText, Operations};
use domain::user::UserStatus;
use domain::user::slowing::Attempt;

/// The actor in the audit: nobody is known at the sign-in.
const ACTOR: &str = "sign-in";

pub(super) async fn count_reset(state: &State, email: &str, client: &Client) -> Result<()> {
    count(state, &Attempt::reset(email, client.address)).await
}

/// Returns a link for an active user with a membership. One who was only invited has no account to
/// sign in to, and still has the invitation.
pub(super) async fn link(state: &State, email: &str) -> Result<Option<LinkText>> {
    let store = state.store();
    let user = match store.users().find_by_email(email).await? {
        Some(found) if found.user.status == UserStatus::Active => found.user,
        _ => return Ok(None),
    };
    if store.members().of_user(user.id).await?.is_empty() {
        return Ok(None);
    }
    let actor = Actor::new(state.context.clock.clone(), ACTOR);
    let operations = Operations::new(store.clone(), actor);
    let (_, link) = operations.users().reset(&user.email).await?;
    Ok(Some(link))
}
