//! Web Authentication by the library: options for a browser, and the check of its answer.
//!
//! An answer that is refused has one error here, and its reason is logged in our own words. The
//! library's own words may repeat the answer.

use domain::user::UserId;
use domain::user::passkey::RelyingParty;
use store::{Challenge, Passkey};
use webauthn_rp::bin::{Decode, Encode};
use webauthn_rp::request::auth::AuthenticationVerificationOptions;
use webauthn_rp::request::register::{
    CredProtect, Nickname, PublicKeyCredentialUserEntity, RegistrationVerificationOptions,
    UserHandle, Username,
};
use webauthn_rp::request::{AsciiDomain, ExtensionInfo, PublicKeyCredentialDescriptor, RpId};
use webauthn_rp::response::auth::error::AuthCeremonyErr;
use webauthn_rp::response::register::error::RegCeremonyErr;
use webauthn_rp::response::register::{DynamicState, StaticState};
use webauthn_rp::response::{AuthTransports, CredentialId};
use webauthn_rp::{
    AuthenticatedCredential, DiscoverableAuthentication, DiscoverableAuthenticationServerState,
    DiscoverableCredentialRequestOptions, PublicKeyCredentialCreationOptions, Registration,
    RegistrationServerState,
};

/// The bytes of a user's id, by which an authenticator keeps its passkeys apart.
const HANDLE_BYTES: usize = 8;
/// Longest answer of a browser that is read.
const MAX_ANSWER_BYTES: usize = 16 << 10;

/// The form in which a session asks a browser for a passkey.
pub(super) struct Begun {
    /// The part that the answer is checked against.
    pub(super) state: Vec<u8>,
    /// The options for the browser, as JSON.
    pub(super) options: String,
}

/// The answer of a passkey at a sign-in, before it is checked.
pub(super) struct Answer(DiscoverableAuthentication<HANDLE_BYTES>);

impl Answer {
    /// Reads an answer.
    pub(super) fn read(json: &str) -> Option<Self> {
        let is_short = json.len() <= MAX_ANSWER_BYTES;
        let read = is_short.then(|| DiscoverableAuthentication::from_json_relaxed(json.as_bytes()));
        read?.ok().map(Self)
    }

    /// Returns the id of the passkey.
    pub(super) fn credential(&self) -> Vec<u8> {
        self.0.raw_id().as_ref().to_vec()
    }
}

fn rp_id(party: &RelyingParty) -> Option<RpId> {
    let domain = AsciiDomain::try_from(party.id().to_owned());
    domain.ok().map(RpId::Domain)
}

fn handle(user: UserId) -> Option<UserHandle<HANDLE_BYTES>> {
    UserHandle::decode(user.0.to_be_bytes()).ok()
}

fn descriptor(passkey: &Passkey) -> Option<PublicKeyCredentialDescriptor<Vec<u8>>> {
    Some(PublicKeyCredentialDescriptor {
        id: CredentialId::<Vec<u8>>::decode(passkey.credential.clone()).ok()?,
        transports: AuthTransports::decode(passkey.transports).ok()?,
    })
}

/// Returns the options for a new passkey. An authenticator that has one of the known ones refuses.
pub(super) fn begin_adding(
    party: &RelyingParty,
    (user, email, name): (UserId, &str, &str),
    known: &[Passkey],
) -> Option<Begun> {
    let (rp_id, handle, number) = (rp_id(party)?, handle(user)?, user.to_string());
    let entity = PublicKeyCredentialUserEntity {
        name: Username::try_from(email)
            .or_else(|_| Username::try_from(number.as_str()))
            .ok()?,
        id: &handle,
        display_name: Nickname::try_from(name).ok(),
    };
    let known = known.iter().filter_map(descriptor).collect();
    let mut options = PublicKeyCredentialCreationOptions::passkey(&rp_id, entity, known);
    // Many authenticators lack the extension, and a browser would refuse them.
    options.extensions.cred_protect =
        CredProtect::UserVerificationRequired(ExtensionInfo::AllowDontEnforceValue);
    let (server, client) = options.start_ceremony().ok()?;
    Some(Begun {
        state: server.encode().ok()?,
        options: serde_json::to_string(&client).ok()?,
    })
}

/// Returns the passkey of an answer, or `None` if it is refused. The passkey has no name yet.
pub(super) fn added(
    party: &RelyingParty,
    challenge: &Challenge,
    json: &str,
    now_ms: i64,
) -> Option<Passkey> {
    let (rp_id, user) = (rp_id(party)?, challenge.user?);
    if json.len() > MAX_ANSWER_BYTES {
        return None;
    }
    let answer = Registration::from_json_relaxed(json.as_bytes()).ok()?;
    let server =
        RegistrationServerState::<HANDLE_BYTES>::decode(challenge.state.as_slice()).ok()?;
    let origins = [party.origin()];
    let options = RegistrationVerificationOptions::<&str, &str> {
        allowed_origins: &origins,
        error_on_unsolicited_extensions: false,
        ..RegistrationVerificationOptions::default()
    };
    let added = match server.verify(&rp_id, &answer, &options) {
        Ok(added) => added,
        Err(error) => {
            refused(matches!(error, RegCeremonyErr::OriginMismatch));
            return None;
        }
    };
    Some(Passkey {
        credential: added.id().as_ref().to_vec(),
        user,
        name: String::new(),
        public_key: added.static_state().encode().ok()?,
        state: added.dynamic_state().encode().ok()?.to_vec(),
        transports: added.transports().encode().ok()?,
        created_at_ms: now_ms,
        used_at_ms: None,
    })
}

/// Returns the options for a sign-in. The user chooses the passkey, so no e-mail address is needed.
pub(super) fn begin_sign_in(party: &RelyingParty) -> Option<Begun> {
    let rp_id = rp_id(party)?;
    let options = DiscoverableCredentialRequestOptions::passkey(&rp_id);
    let (server, client) = options.start_ceremony().ok()?;
    Some(Begun {
        state: server.encode().ok()?,
        options: serde_json::to_string(&client).ok()?,
    })
}

/// Returns the new state of a passkey whose answer is right, or `None` if it is refused. The
/// counter must have grown, unless the authenticator has none.
pub(super) fn signed_in(
    party: &RelyingParty,
    challenge: &Challenge,
    answer: &Answer,
    passkey: &Passkey,
) -> Option<Vec<u8>> {
    let (rp_id, handle) = (rp_id(party)?, handle(passkey.user)?);
    let server = DiscoverableAuthenticationServerState::decode(challenge.state.as_slice()).ok()?;
    let state: [u8; 7] = passkey.state.as_slice().try_into().ok()?;
    let mut credential = AuthenticatedCredential::new(
        CredentialId::<&[u8]>::decode(passkey.credential.as_slice()).ok()?,
        &handle,
        StaticState::decode(passkey.public_key.as_slice()).ok()?,
        DynamicState::decode(state).ok()?,
    )
    .ok()?;
    let origins = [party.origin()];
    let options = AuthenticationVerificationOptions::<&str, &str> {
        allowed_origins: &origins,
        error_on_unsolicited_extensions: false,
        ..AuthenticationVerificationOptions::default()
    };
    if let Err(error) = server.verify(&rp_id, &answer.0, &mut credential, &options) {
        refused(matches!(error, AuthCeremonyErr::OriginMismatch));
        return None;
    }
    Some(credential.dynamic_state().encode().ok()?.to_vec())
}

fn refused(is_of_another_origin: bool) {
    let reason = if is_of_another_origin {
        "the origin of the page is not that of http.public_url"
    } else {
        "the answer does not fit the challenge"
    };
    tracing::warn!("sign-in: passkey refused, {reason}");
}
