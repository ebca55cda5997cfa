//! The names of roles.

use domain::user::role::Role;

/// Returns the name of a role as screens show it.
pub const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Owner => "Owner",
        Role::Developer => "Developer",
        Role::Viewer => "Viewer",
        Role::Operator => "Operator",
    }
}
