//! Screens of users: team, profile, second factor.

use super::{HOSTILE, NOW_MS, shell};
use crate::parts::{Badge, Choice, Confirm, Empty, Field, Kind, Tone};
use crate::screens::{
    AddPasskey, Invitation, Member, NewLink, PasskeyList, PasskeyRow, Place, Profile,
    RecoveryCodes, SecondFactor, Session, Team,
};
use crate::{Section, html};

/// Returns the screens by name.
pub(super) fn all() -> Vec<(&'static str, String)> {
    vec![
        ("team", html(&team("Chidi Okafor", "chidi@example.ng"))),
        ("team-hostile", html(&team(HOSTILE, HOSTILE))),
        ("profile", html(&profile("Firefox on Linux"))),
        ("profile-hostile", html(&profile(HOSTILE))),
        ("second-factor", html(&second_factor())),
        ("add-passkey", html(&add_passkey("Phone"))),
        ("add-passkey-hostile", html(&add_passkey(HOSTILE))),
        ("recovery-codes", html(&recovery_codes())),
    ]
}

fn confirm(id: &str) -> Confirm {
    Confirm {
        id: id.to_owned(),
        action: "Remove".to_owned(),
        title: "Remove Chidi Okafor?".to_owned(),
        text: "The user loses all access to this account at once.".to_owned(),
        href: "/console/team/7/remove".to_owned(),
        csrf_token: "4nT0kEn".to_owned(),
        hidden: Vec::new(),
        is_dangerous: true,
    }
}

fn role(name: &str) -> Field {
    let choices = ["owner", "developer", "viewer"].map(|role| Choice::new(role, role));
    Field::new(Kind::Select(choices.to_vec()), name, "Role").value("viewer")
}

fn team(name: &str, email: &str) -> Team {
    let member = |id: &str, is_self: bool| Member {
        name: name.to_owned(),
        email: email.to_owned(),
        status: Badge::new(Tone::Good, "Active"),
        has_second_factor: is_self,
        role: role(&format!("role-{id}")),
        role_href: "/console/team/7/role".to_owned(),
        remove: (!is_self).then(|| confirm(&format!("remove-{id}"))),
    };
    Team {
        shell: shell("Team", Section::Team),
        link: Some(NewLink {
            email: email.to_owned(),
            address: "https://sms.example.ng/links/4nT0kEn".to_owned(),
            expires_at_ms: NOW_MS,
        }),
        members: vec![member("1", true), member("2", false)],
        invitations: vec![Invitation {
            email: email.to_owned(),
            role: "Viewer".to_owned(),
            expires_at_ms: NOW_MS,
            withdraw: confirm("withdraw-3"),
        }],
        no_invitations: Empty::new("No open invitations", "An invitation is good once."),
        invite: vec![Field::text("email", "E-mail address"), role("role")],
        invite_href: "/console/team/invite".to_owned(),
    }
}

fn profile(agent: &str) -> Profile {
    let session = |end: Option<Confirm>| Session {
        agent: agent.to_owned(),
        client: "203.0.113.9".to_owned(),
        created_at_ms: NOW_MS,
        seen_at_ms: NOW_MS,
        end,
    };
    Profile {
        shell: shell("Profile", Section::Profile),
        email: "amina@example.ng".to_owned(),
        name: Field::text("name", "Name").value(agent),
        password: vec![Field::password("old", "Current password")],
        second_factor: "It is on. 9 recovery codes are left.".to_owned(),
        has_second_factor: true,
        confirmation: Field::password("password", "Current password"),
        passkeys: passkeys(agent),
        places: vec![Place {
            name: agent.to_owned(),
            role: "owner".to_owned(),
            value: Some("4711".to_owned()),
        }],
        sessions: vec![session(None), session(Some(confirm("end-1")))],
        end_others: Some(confirm("end-others")),
    }
}

fn passkeys(name: &str) -> PasskeyList {
    let row = |used_at_ms| PasskeyRow {
        name: name.to_owned(),
        created_at_ms: NOW_MS - 86_400_000,
        used_at_ms,
    };
    let choices = vec![Choice::new("0123456789abcdef", name)];
    PasskeyList {
        rows: vec![row(Some(NOW_MS)), row(None)],
        add: vec![
            Field::text("passkey_name", "Name"),
            Field::password("passkey_password", "Current password"),
        ],
        remove: vec![
            Field::new(Kind::Select(choices), "passkey", "Passkey"),
            Field::password("removal_password", "Current password"),
        ],
    }
}

fn add_passkey(name: &str) -> AddPasskey {
    AddPasskey {
        shell: shell("Add a passkey", Section::Profile),
        name: name.to_owned(),
        options: format!("{{\"challenge\":{name:?}}}"),
    }
}

fn second_factor() -> SecondFactor {
    SecondFactor {
        shell: shell("Turn on the second factor", Section::Profile),
        secret: "MZXW 6YTB".to_owned(),
        address: "otpauth://totp/Ogene:amina@example.ng?secret=MZXW6YTB".to_owned(),
        code: Field::text("code", "Code"),
    }
}

fn recovery_codes() -> RecoveryCodes {
    RecoveryCodes {
        shell: shell("Recovery codes", Section::Profile),
        codes: vec!["2345-6789-ABCD-EFGH".to_owned(); 10],
    }
}

#[test]
fn a_hostile_user_stays_a_text() {
    for (name, html) in all() {
        assert!(!html.contains("<script>alert"), "{name}");
        assert!(!html.contains("<img src=x"), "{name}");
    }
}
