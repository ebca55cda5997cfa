//! The keys of a configuration that only a start can change.

use super::Config;
use super::console::Console;
use super::database::Database;
use super::http::Http;
use super::limits::LimitsSection;
use super::smpp_server::SmppServer;
use crate::http::ConnectionLimits;

/// Compares a configuration with the one that a process runs by.
struct Kept(Vec<&'static str>);

impl Kept {
    /// Keeps the running value of a key, and records the key if the new value differs.
    fn keep<T: Clone + PartialEq>(&mut self, key: &'static str, new: &mut T, running: &T) {
        if new != running {
            self.0.push(key);
            new.clone_from(running);
        }
    }
}

/// Keeps the running value of each key that only a start can change, and returns the keys and
/// sections that differ. Each field is named here, so that a new field is decided on.
pub fn keep(config: &mut Config, running: &Config) -> Vec<&'static str> {
    let Config {
        file: _,
        data_dir,
        database,
        http,
        smpp_server,
        limits,
        callbacks,
        retention,
        inbound: _,
        payments: _,
        velocity: _,
        console: Console {
            enabled,
            sessions: _,
        },
        mail,
        log,
        carriers: _,
        carrier_rules: _,
        gateways: _,
        plan: _,
        code_words: _,
        prohibited: _,
        notes: _,
    } = config;
    let mut kept = Kept(Vec::new());
    kept.keep("data_dir", data_dir, &running.data_dir);
    let named = |config: &Option<Database>| {
        let named = config.as_ref();
        named.map(|database| (database.url.clone(), database.connections))
    };
    let (new, old) = (named(database), named(&running.database));
    if new.as_ref().map(|(url, _)| url) != old.as_ref().map(|(url, _)| url) {
        kept.0.push("database_url");
    } else if new != old {
        kept.0.push("database_connections");
    }
    database.clone_from(&running.database);
    keep_http(&mut kept, http, &running.http);
    keep_smpp_server(&mut kept, smpp_server, &running.smpp_server);
    keep_limits(&mut kept, limits, &running.limits);
    if callbacks != &running.callbacks {
        // The minimum retention depends on how long callbacks are retried.
        kept.keep("retention", retention, &running.retention);
    }
    kept.keep("console.enabled", enabled, &running.console.enabled);
    kept.keep("mail", mail, &running.mail);
    kept.keep("callbacks", callbacks, &running.callbacks);
    kept.keep("log", log, &running.log);
    kept.0
}

fn keep_http(kept: &mut Kept, http: &mut Http, running: &Http) {
    let Http {
        listen,
        metrics,
        tls,
        public_url,
        trusted_proxies: _,
        code_prefix,
        connections: ConnectionLimits { max, idle_timeout },
        body_timeout: _,
    } = http;
    kept.keep("http.listen", listen, &running.listen);
    kept.keep("http.metrics_listen", metrics, &running.metrics);
    kept.keep("http.public_url", public_url, &running.public_url);
    kept.keep("http.code_prefix", code_prefix, &running.code_prefix);
    // A reload accepts another certificate. It cannot switch TLS on or off.
    if tls.is_some() != running.tls.is_some() {
        kept.0.push("http.tls");
        tls.clone_from(&running.tls);
    }
    kept.keep("http.max_connections", max, &running.connections.max);
    kept.keep(
        "http.idle_timeout",
        idle_timeout,
        &running.connections.idle_timeout,
    );
}

fn keep_smpp_server(kept: &mut Kept, server: &mut SmppServer, running: &SmppServer) {
    let keys = |server: &SmppServer| {
        let SmppServer {
            listen,
            tls_listen,
            tls,
            max_connections,
            enquire_link,
            response_timeout,
        } = server;
        let listens = (*listen, *tls_listen, tls.is_some());
        (listens, *max_connections, *enquire_link, *response_timeout)
    };
    // A reload accepts another certificate.
    if keys(server) != keys(running) {
        kept.0.push("smpp_server");
        server.clone_from(running);
    }
}

fn keep_limits(kept: &mut Kept, limits: &mut LimitsSection, running: &LimitsSection) {
    let LimitsSection {
        engine:
            engine::Limits {
                sends_per_minute: _,
                reports_per_minute: _,
                reads_per_minute: _,
                unknown_tokens_per_minute: _,
                accept_queue,
                otp_per_number: _,
                idempotency_window_ms: _,
                sandbox: _,
            },
        max_recipients: _,
        max_body_bytes,
        body_memory_bytes,
    } = limits;
    if body_memory_bytes != &running.body_memory_bytes {
        // The largest body must fit into this memory.
        kept.keep("limits.max_body", max_body_bytes, &running.max_body_bytes);
    }
    kept.keep(
        "limits.body_memory",
        body_memory_bytes,
        &running.body_memory_bytes,
    );
    kept.keep(
        "limits.accept_queue",
        accept_queue,
        &running.engine.accept_queue,
    );
}
