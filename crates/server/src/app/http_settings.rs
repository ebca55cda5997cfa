//! The settings of the HTTP server, from the configuration.

use crate::config::Config;
use crate::http::{BodyLimits, Document, Installation, Settings};

/// The settings that a reload replaces.
pub(super) fn http_settings(config: &Config) -> Settings {
    Settings {
        body: body_limits(config),
        trusted_proxies: config.http.trusted_proxies.clone(),
        document: Document::new(installation(config)),
    }
}

fn body_limits(config: &Config) -> BodyLimits {
    BodyLimits {
        bytes: config.limits.max_body_bytes,
        time: config.http.body_timeout,
        recipients: config.limits.max_recipients,
    }
}

/// The part of the configuration that customers may see.
pub(crate) fn installation(config: &Config) -> Installation {
    Installation {
        limits: config.limits.engine,
        body: body_limits(config),
        rules: config.settings().rules,
        codes: config.http.code_prefix.clone(),
    }
}
