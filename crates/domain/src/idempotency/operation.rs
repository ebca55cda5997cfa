//! The operations that support an idempotency key.

use crate::named_enum;

named_enum! {
    /// An operation that supports a key. Aliases and other methods are the same operation.
    pub enum Operation {
        /// `/sms`, its aliases, and a send by GET.
        Send = "sms",
        /// `/api/v1/sms/create`, whose answer has another shape.
        LegacySend = "v1/sms/create",
        /// `/sms/personalised`.
        SendPersonalised = "sms/personalised",
        /// `/messages/{message_id}/cancel`.
        Cancel = "messages/cancel",
        /// `/messages/{message_id}/pause`.
        Pause = "messages/pause",
        /// `/messages/{message_id}/resume`.
        Resume = "messages/resume",
        /// `/messages/{message_id}/reschedule`.
        Reschedule = "messages/reschedule",
        /// `/otp`.
        CreateOtp = "otp",
        /// `/otp/{otp_id}/verify`.
        VerifyOtp = "otp/verify",
        /// `/otp/{otp_id}/resend`.
        ResendOtp = "otp/resend",
        /// `/otp/{otp_id}/cancel`.
        CancelOtp = "otp/cancel",
        /// `/sender-ids`.
        RequestSenderId = "sender-ids",
        /// `/inbound/routes`.
        AddRoute = "inbound/routes",
        /// `/inbound/routes/{route_id}`.
        RemoveRoute = "inbound/routes/remove",
        /// `/inbound/answers`.
        ChangeAnswers = "inbound/answers",
        /// The answer to an inbound message, which the service sends for the account.
        Answer = "inbound/answer",
        /// `/opt-outs`.
        AddOptOuts = "opt-outs",
        /// `/opt-outs/{recipient}`.
        RemoveOptOuts = "opt-outs/remove",
        /// `/tokens`.
        MakeToken = "tokens",
        /// `/tokens/{token_id}`.
        RevokeToken = "tokens/revoke",
        /// `/top-ups`.
        CreateTopUp = "top-ups",
        /// `/alerts`.
        AddAlert = "alerts",
        /// `/alerts/{alert_id}`.
        RemoveAlert = "alerts/remove",
        /// `/smpp-users`.
        MakeSmppUser = "smpp-users",
        /// `/smpp-users/{system_id}`.
        RevokeSmppUser = "smpp-users/revoke",
        /// `/webhooks/secrets`.
        MakeSecret = "webhooks/secrets",
        /// `/webhooks/secrets/{secret_id}`.
        RevokeSecret = "webhooks/secrets/revoke",
        /// `/webhooks/replay`.
        ReplayCallbacks = "webhooks/replay",
        /// `/sub-accounts`.
        MakeSubAccount = "sub-accounts",
        /// `/sub-accounts/{sub_account_id}`.
        ChangeSubAccount = "sub-accounts/change",
        /// `/sub-accounts/{sub_account_id}/transfer`.
        Transfer = "sub-accounts/transfer",
    }
}
