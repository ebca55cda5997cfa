//! The raw fields of a request from a query string, a form or JSON, under one set of names.

mod bounds;

pub(crate) use bounds::{Bounds, Exceeded};

use super::object_body::{ObjectBody, repeated};
use domain::opt_out::OptOutRequest;
use domain::otp::OtpFields;
use domain::personalised::Rows;
use domain::{Refusal, SendFields, token};

/// Maximum unknown fields that an answer names, and maximum characters of each name.
const MAX_IGNORED: usize = 20;
const MAX_IGNORED_CHARACTERS: usize = 64;

/// The known names of fields.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Name {
    ApiToken,
    From,
    To,
    Body,
    Gateway,
    Dnd,
    Unicode,
    AppendSender,
    CallbackUrl,
    CustomerReference,
    SendAt,
    Validity,
    MessageId,
    Page,
    PerPage,
    Length,
    Kind,
    ExpiresIn,
    MaxAttempts,
    Code,
    Unknown,
}

/// The names that a send does not read.
const OF_OTHERS: [Name; 8] = [
    Name::MessageId,
    Name::Page,
    Name::PerPage,
    Name::Length,
    Name::Kind,
    Name::ExpiresIn,
    Name::MaxAttempts,
    Name::Code,
];

impl Name {
    /// Parses a name in a request. White space before it is ignored.
    pub(crate) fn of(text: &str) -> Self {
        match text.trim_start() {
            "api_token" => Self::ApiToken,
            "from" => Self::From,
            "to" => Self::To,
            "body" => Self::Body,
            "gateway" => Self::Gateway,
            "dnd" => Self::Dnd,
            "unicode" => Self::Unicode,
            "append_sender" => Self::AppendSender,
            "callback_url" => Self::CallbackUrl,
            "customer_reference" => Self::CustomerReference,
            "send_at" => Self::SendAt,
            "validity" => Self::Validity,
            "message_id" => Self::MessageId,
            "page" => Self::Page,
            "per_page" => Self::PerPage,
            "length" => Self::Length,
            "kind" => Self::Kind,
            "expires_in" => Self::ExpiresIn,
            "max_attempts" => Self::MaxAttempts,
            "code" => Self::Code,
            _ => Self::Unknown,
        }
    }

    /// Returns the name, for messages.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::ApiToken => "api_token",
            Self::From => "from",
            Self::To => "to",
            Self::Body => "body",
            Self::Gateway => "gateway",
            Self::Dnd => "dnd",
            Self::Unicode => "unicode",
            Self::AppendSender => "append_sender",
            Self::CallbackUrl => "callback_url",
            Self::CustomerReference => "customer_reference",
            Self::SendAt => "send_at",
            Self::Validity => "validity",
            Self::MessageId => "message_id",
            Self::Page => "page",
            Self::PerPage => "per_page",
            Self::Length => "length",
            Self::Kind => "kind",
            Self::ExpiresIn => "expires_in",
            Self::MaxAttempts => "max_attempts",
            Self::Code => "code",
            Self::Unknown => "",
        }
    }
}

/// The fields of a part of a request.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Fields {
    pub(crate) api_token: Option<String>,
    pub(crate) send: SendFields,
    pub(crate) report: ReportFields,
    pub(crate) otp: OtpFields,
    /// The code to verify.
    pub(crate) code: Option<String>,
    /// The fields of an object, if the request adds one. They are no other fields then.
    pub(crate) object: Option<Box<ObjectBody>>,
    /// The opt-outs of a CSV.
    pub(crate) opt_outs: Option<Vec<OptOutRequest>>,
    /// The rows of a personalised send.
    pub(crate) rows: Option<Rows>,
    /// The refusal of these rows, which ends the reading.
    pub(crate) row_fault: Option<Refusal>,
    /// The fault that ended the reading. The token is still read if possible, because the caller is
    /// checked first.
    pub(crate) fault: Option<Refusal>,
}

/// The fields that name a page of a delivery report.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct ReportFields {
    pub(crate) message_id: Option<String>,
    pub(crate) page: Option<String>,
    pub(crate) per_page: Option<String>,
}

impl Fields {
    /// Returns the fields of an unreadable part.
    pub(crate) fn unread(fault: Refusal) -> Self {
        Self {
            fault: Some(fault),
            ..Self::default()
        }
    }

    /// Returns the fields of a request that adds an object, before they are read.
    pub(crate) fn of_object() -> Self {
        Self {
            object: Some(Box::default()),
            ..Self::default()
        }
    }

    /// Records a fault. The first one stays.
    pub(crate) fn fail(&mut self, fault: Refusal) {
        self.fault.get_or_insert(fault);
    }

    /// Stores the value of a field. Repeated recipients are added. Any other field that is repeated
    /// with another value is a fault. A blank value counts as absent.
    pub(crate) fn keep(&mut self, name: Name, value: String) {
        if let Some(object) = self.object.as_mut().filter(|_| name != Name::ApiToken) {
            object.add(name.as_str(), value);
            return;
        }
        let Some(slot) = self.slot(name) else { return };
        match slot {
            None => *slot = Some(value),
            Some(list) if name == Name::To => {
                list.push(',');
                list.push_str(&value);
            }
            Some(kept) if kept.trim() == value.trim() || value.trim().is_empty() => {}
            Some(kept) if kept.trim().is_empty() => *kept = value,
            Some(_) => self.fail(repeated(name.as_str())),
        }
    }

    /// Records an unknown name for the answer. A name that could be a token is not recorded.
    pub(crate) fn ignore(&mut self, name: &str) {
        let name = name.trim();
        let ignored = &mut self.send.ignored;
        if ignored.len() == MAX_IGNORED || name.is_empty() || token::is_well_formed(name) {
            return;
        }
        let cut = name
            .char_indices()
            .nth(MAX_IGNORED_CHARACTERS)
            .map_or(name, |(end, _)| &name[..end]);
        if !ignored.iter().any(|known| known == cut) {
            ignored.push(cut.to_owned());
        }
    }

    /// Takes the values of fields that the request does not read, and records their names.
    pub(crate) fn ignore_all(&mut self, names: &[Name]) {
        for &name in names {
            let value = self.slot(name).and_then(Option::take);
            if value.is_some() {
                self.ignore(name.as_str());
            }
        }
    }

    /// Returns the place of a field's value. An ignored field has none.
    pub(crate) fn slot(&mut self, name: Name) -> Option<&mut Option<String>> {
        let (send, report, otp) = (&mut self.send, &mut self.report, &mut self.otp);
        Some(match name {
            Name::ApiToken => &mut self.api_token,
            Name::From => &mut send.from,
            Name::To => &mut send.to,
            Name::Body => &mut send.body,
            Name::Gateway => &mut send.gateway,
            Name::Dnd => &mut send.dnd,
            Name::Unicode => &mut send.unicode,
            Name::AppendSender => &mut send.append_sender,
            Name::CallbackUrl => &mut send.callback_url,
            Name::CustomerReference => &mut send.customer_reference,
            Name::SendAt => &mut send.send_at,
            Name::Validity => &mut send.validity,
            Name::MessageId => &mut report.message_id,
            Name::Page => &mut report.page,
            Name::PerPage => &mut report.per_page,
            Name::Length => &mut otp.length,
            Name::Kind => &mut otp.kind,
            Name::ExpiresIn => &mut otp.expires_in,
            Name::MaxAttempts => &mut otp.max_attempts,
            Name::Code => &mut self.code,
            Name::Unknown => return None,
        })
    }

    /// Returns the fields of a send. The body's value overrides that of the query string.
    pub(crate) fn over(mut self, mut query: Fields) -> Result<SendFields, Refusal> {
        if let Some(fault) = self.fault.take().or(query.fault.take()) {
            return Err(fault);
        }
        for name in query.send.ignored.drain(..) {
            self.ignore(&name);
        }
        let of_others = OF_OTHERS.map(|name| {
            let given = |fields: &mut Self| fields.slot(name).is_some_and(|slot| slot.is_some());
            (given(&mut self) || given(&mut query)).then_some(name)
        });
        for name in of_others.into_iter().flatten() {
            self.ignore(name.as_str());
        }
        let is_given =
            |field: &Option<String>| field.as_deref().is_some_and(|text| !text.trim().is_empty());
        let (gateways, dnds) = (
            [&self.send.gateway, &query.send.gateway],
            [&self.send.dnd, &query.send.dnd],
        );
        // The older field for the gateway is not read beside the newer one.
        if gateways.into_iter().any(is_given) && dnds.into_iter().any(is_given) {
            self.ignore(Name::Dnd.as_str());
        }
        let (body, query) = (self.send, query.send);
        Ok(SendFields {
            from: body.from.or(query.from),
            to: body.to.or(query.to),
            body: body.body.or(query.body),
            gateway: body.gateway.or(query.gateway),
            dnd: body.dnd.or(query.dnd),
            unicode: body.unicode.or(query.unicode),
            append_sender: body.append_sender.or(query.append_sender),
            callback_url: body.callback_url.or(query.callback_url),
            customer_reference: body.customer_reference.or(query.customer_reference),
            send_at: body.send_at.or(query.send_at),
            validity: body.validity.or(query.validity),
            ignored: body.ignored,
        })
    }
}
