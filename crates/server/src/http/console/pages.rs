//! The table of all routes of the console.

mod account;
mod account_changes;
mod account_parts;
mod account_resale;
mod accounts;
mod alerts;
mod all_messages;
mod all_top_ups;
mod answers;
mod approvals;
mod assets;
mod attention;
mod audit;
mod callbacks;
mod carrier_changes;
mod carriers;
mod contacts;
mod content;
mod file;
mod file_send;
mod first_steps;
mod forgotten;
mod inbound;
mod inbox;
mod left_out;
mod links;
mod lists;
mod message_changes;
mod messages;
mod operations;
mod operator_routes;
mod opt_outs;
mod overview;
mod passkeys;
mod paused_blocks;
mod payment_parts;
mod payment_settings;
mod profile;
mod recipient;
mod requests;
mod revenue;
mod second_factor;
mod send;
mod send_parts;
mod sender_ids;
mod shared;
mod sign_in;
mod smpp_users;
mod sub_account;
mod sub_account_changes;
mod sub_account_messages;
mod sub_account_parts;
mod sub_account_routes;
mod sub_accounts;
mod team;
mod tokens;
mod top_up_form;
mod top_ups;
mod trace;
mod verify;
mod wallet;

use super::page::{Page, get, get_public, post, post_half, post_public, upload};
use domain::user::role::Permission::{
    ManageCallbacks, ManageContacts, ManageMoney, ManageSenders, ManageTeam, ManageTokens,
    OwnProfile, SendMessages, ViewAccount,
};

/// Returns all routes. The router merges routes with the same path.
pub(super) fn all() -> Vec<Page> {
    let mut all = entry();
    all.extend(own());
    all.extend(customer());
    all.extend(files());
    all.extend(groups());
    all.extend(money());
    all.extend(developer());
    all.extend(sub_account_routes::all());
    all.extend(operator_routes::all());
    all
}

/// Sign-in, one-time links and files: before a user is known.
fn entry() -> Vec<Page> {
    vec![
        get_public("/console/assets/{file}", assets::file),
        get_public("/sign-in", sign_in::page),
        post_public("/sign-in", sign_in::by_password),
        get_public("/sign-in/code", sign_in::code_page),
        post_half("/sign-in/code", sign_in::by_code),
        post_public("/sign-in/passkey/begin", passkeys::begin_sign_in),
        post_public("/sign-in/passkey", passkeys::sign_in),
        get_public("/sign-in/forgotten", forgotten::page),
        post_public("/sign-in/forgotten", forgotten::send),
        post_half("/sign-out", sign_in::sign_out),
        get_public("/links/{secret}", links::page),
        post_public("/links/{secret}", links::consume),
    ]
}

/// The user's own profile, for customers and operators.
fn own() -> Vec<Page> {
    vec![
        post("/console/theme", OwnProfile, profile::theme),
        post("/console/environment", OwnProfile, profile::environment),
        get("/console/profile", OwnProfile, profile::page),
        post("/console/profile/name", OwnProfile, profile::set_name),
        post("/console/profile/account", OwnProfile, profile::switch),
        post(
            "/console/profile/password",
            OwnProfile,
            profile::change_password,
        ),
        post(
            "/console/profile/sessions/{id}/end",
            OwnProfile,
            profile::end,
        ),
        post(
            "/console/profile/sessions/end-others",
            OwnProfile,
            profile::end_others,
        ),
        post(
            "/console/profile/passkeys/begin",
            OwnProfile,
            passkeys::begin,
        ),
        post("/console/profile/passkeys", OwnProfile, passkeys::add),
        post(
            "/console/profile/passkeys/remove",
            OwnProfile,
            passkeys::remove,
        ),
        get(
            "/console/profile/second-factor",
            OwnProfile,
            second_factor::page,
        ),
        post(
            "/console/profile/second-factor",
            OwnProfile,
            second_factor::confirm,
        ),
        post(
            "/console/profile/second-factor/remove",
            OwnProfile,
            second_factor::remove,
        ),
        post(
            "/console/profile/recovery-codes",
            OwnProfile,
            second_factor::make_codes,
        ),
    ]
}

/// The send to a file of recipients.
fn files() -> Vec<Page> {
    vec![
        get("/console/send/file", SendMessages, file::page),
        upload("/console/send/file", SendMessages, file::upload),
        get("/console/send/file/{upload}", SendMessages, file::columns),
        post(
            "/console/send/file/{upload}/delete",
            SendMessages,
            file::delete,
        ),
        post(
            "/console/send/file/{upload}/count",
            SendMessages,
            file_send::count_pages,
        ),
        post(
            "/console/send/file/{upload}/review",
            SendMessages,
            file_send::review,
        ),
        post(
            "/console/send/file/{upload}/send",
            SendMessages,
            file_send::send,
        ),
        post(
            "/console/send/file/{upload}/left-out",
            SendMessages,
            file_send::download,
        ),
    ]
}

/// The groups of contacts.
fn groups() -> Vec<Page> {
    vec![
        get("/console/contacts", ViewAccount, contacts::groups),
        post("/console/contacts", ManageContacts, contacts::create),
        get("/console/contacts/new", ManageContacts, contacts::form),
        get("/console/contacts/{id}", ViewAccount, contacts::group),
        get(
            "/console/contacts/{id}/add",
            ManageContacts,
            contacts::add_form,
        ),
        post("/console/contacts/{id}/add", ManageContacts, contacts::add),
        upload(
            "/console/contacts/{id}/file",
            ManageContacts,
            contacts::upload,
        ),
        get("/console/contacts/{id}/send", SendMessages, contacts::draft),
        post(
            "/console/contacts/{id}/remove",
            ManageContacts,
            contacts::remove,
        ),
        post(
            "/console/contacts/{id}/contacts/remove",
            ManageContacts,
            contacts::remove_contact,
        ),
    ]
}

/// The pages of customers. Each shows the account of its visitor alone.
fn customer() -> Vec<Page> {
    vec![
        get("/console", ViewAccount, overview::to_customer),
        get("/console/", ViewAccount, overview::of_customer),
        get("/console/messages", ViewAccount, messages::list),
        get("/console/messages/{id}", ViewAccount, messages::message),
        post(
            "/console/messages/{id}/cancel",
            SendMessages,
            message_changes::cancel,
        ),
        post(
            "/console/messages/{id}/pause",
            SendMessages,
            message_changes::pause,
        ),
        post(
            "/console/messages/{id}/resume",
            SendMessages,
            message_changes::resume,
        ),
        get(
            "/console/messages/{id}/retry",
            SendMessages,
            message_changes::retry,
        ),
        get(
            "/console/messages/{id}/recipients.csv",
            ViewAccount,
            message_changes::export,
        ),
        get(
            "/console/messages/{id}/{recipient}",
            ViewAccount,
            recipient::page,
        ),
        get(
            "/console/exports/recipients.csv",
            ViewAccount,
            messages::export,
        ),
        get("/console/inbox", ViewAccount, inbox::page),
        get("/console/inbound", ViewAccount, inbound::page),
        get("/console/inbound/answers", ViewAccount, answers::page),
        post("/console/inbound/answers", ManageContacts, answers::save),
        get("/console/opt-outs", ViewAccount, opt_outs::page),
        get("/console/opt-outs/new", ManageContacts, opt_outs::form),
        post("/console/opt-outs", ManageContacts, opt_outs::add),
        post(
            "/console/opt-outs/{id}/remove",
            ManageContacts,
            opt_outs::remove,
        ),
        get("/console/requests", ViewAccount, requests::list),
        get("/console/requests/{id}", ViewAccount, requests::page),
        get("/console/wallet", ViewAccount, wallet::page),
        get("/console/exports/wallet.csv", ViewAccount, wallet::export),
        get("/console/send", SendMessages, send::page),
        post("/console/send", SendMessages, send::send),
        post("/console/send/count", SendMessages, send::count_pages),
        post("/console/send/review", SendMessages, send::review),
        get("/console/team", ManageTeam, team::page),
        post("/console/team/invite", ManageTeam, team::invite),
        post("/console/team/{user}/role", ManageTeam, team::set_role),
        post("/console/team/{user}/remove", ManageTeam, team::remove),
        post("/console/team/{user}/withdraw", ManageTeam, team::withdraw),
    ]
}

/// Payments into the wallet, and alerts about its balance.
fn money() -> Vec<Page> {
    vec![
        get("/console/top-ups", ViewAccount, top_ups::list),
        post("/console/top-ups", ManageMoney, top_up_form::create),
        get("/console/top-ups/new", ManageMoney, top_up_form::form),
        post("/console/top-ups/price", ManageMoney, top_up_form::price),
        post("/console/top-ups/review", ManageMoney, top_up_form::review),
        get("/console/top-ups/{id}", ViewAccount, top_ups::page),
        get("/console/top-ups/{id}/pay", ManageMoney, top_ups::pay),
        get(
            "/console/top-ups/{id}/receipt",
            ViewAccount,
            top_ups::receipt,
        ),
        get("/console/alerts", ViewAccount, alerts::page),
        post("/console/alerts", ManageMoney, alerts::add),
        get("/console/alerts/new", ManageMoney, alerts::form),
        post("/console/alerts/{id}/remove", ManageMoney, alerts::remove),
    ]
}

/// Sender IDs, tokens and callbacks of the account.
fn developer() -> Vec<Page> {
    vec![
        get("/console/sender-ids", ViewAccount, sender_ids::page),
        get("/console/sender-ids/new", ManageSenders, sender_ids::form),
        post("/console/sender-ids", ManageSenders, sender_ids::create),
        get("/console/tokens", ViewAccount, tokens::page),
        get("/console/tokens/new", ManageTokens, tokens::form),
        post("/console/tokens", ManageTokens, tokens::create),
        post("/console/tokens/{id}/revoke", ManageTokens, tokens::revoke),
        get("/console/smpp-users", ViewAccount, smpp_users::page),
        get("/console/smpp-users/new", ManageTokens, smpp_users::form),
        post("/console/smpp-users", ManageTokens, smpp_users::create),
        post(
            "/console/smpp-users/{id}/revoke",
            ManageTokens,
            smpp_users::revoke,
        ),
        get("/console/callbacks", ViewAccount, callbacks::attempts),
        get("/console/callbacks/dead", ViewAccount, callbacks::dead),
        get(
            "/console/callbacks/replay",
            ManageCallbacks,
            callbacks::replay_form,
        ),
        post(
            "/console/callbacks/replay",
            ManageCallbacks,
            callbacks::replay,
        ),
        get(
            "/console/callbacks/secrets",
            ViewAccount,
            callbacks::secrets,
        ),
        get(
            "/console/callbacks/secrets/new",
            ManageCallbacks,
            callbacks::secret_form,
        ),
        post(
            "/console/callbacks/secrets",
            ManageCallbacks,
            callbacks::create_secret,
        ),
        post(
            "/console/callbacks/secrets/revoke",
            ManageCallbacks,
            callbacks::revoke_secret,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::page::Access;
    use super::*;
    use domain::user::role::{Permission, Role};

    #[test]
    fn a_path_needs_what_its_first_part_says() {
        for page in all() {
            let path = page.path;
            match page.access {
                Access::Public | Access::Session => assert!(
                    !path.starts_with("/operator")
                        && (!path.starts_with("/console") || path.starts_with("/console/assets/")),
                    "{path}"
                ),
                Access::Needs(permission) => {
                    let of_operator = path.starts_with("/operator");
                    assert!(of_operator || path.starts_with("/console"), "{path}");
                    assert_eq!(of_operator, permission == Permission::Operate, "{path}");
                }
            }
        }
    }

    #[test]
    fn a_viewer_may_send_no_form_but_those_of_the_own_profile() {
        for page in all() {
            if let Access::Needs(permission) = page.access
                && page.method == "POST"
                && permission != OwnProfile
            {
                assert!(!Role::Viewer.may(permission), "{}", page.path);
            }
        }
    }
}
