//! Sessions: how long they last, and the browser in a few words.

/// The time after which the use of a session is recorded again. A write for each page would cost
/// more than the page.
const SEEN_INTERVAL_MS: i64 = 60_000;
/// The time that a user has to give the code of the second factor.
pub const SECOND_FACTOR_MS: i64 = 10 * 60_000;
/// Maximum number of sessions of a user. The one that was unused longest gives way.
pub const MAX_SESSIONS: usize = 20;
/// Longest name of a browser that is kept.
const MAX_AGENT_CHARACTERS: usize = 40;

/// The limits of a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SessionLimits {
    /// The time without use after which a session ends.
    pub idle_ms: i64,
    /// The time after which a session ends in any case.
    pub lifetime_ms: i64,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            idle_ms: 12 * 3_600_000,
            lifetime_ms: 14 * 24 * 3_600_000,
        }
    }
}

impl SessionLimits {
    /// Returns the end of a session that is in use now.
    pub fn expires_at_ms(self, created_at_ms: i64, now_ms: i64) -> i64 {
        let latest = created_at_ms.saturating_add(self.lifetime_ms);
        now_ms.saturating_add(self.idle_ms).min(latest)
    }
}

/// Returns `true` if the use of a session is to be recorded.
pub const fn is_seen_due(seen_at_ms: i64, now_ms: i64) -> bool {
    now_ms - seen_at_ms >= SEEN_INTERVAL_MS || now_ms < seen_at_ms
}

/// Browsers by the word that tells them, the more special word first.
const BROWSERS: [(&str, &str); 7] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];
const SYSTEMS: [(&str, &str); 7] = [
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

/// Returns the browser and system of a `User-Agent`, such as `Firefox on Linux`. An unknown one is
/// shortened.
pub fn short_agent(user_agent: &str) -> String {
    let known = |table: &[(&str, &'static str)]| {
        let found = table.iter().find(|(word, _)| user_agent.contains(word));
        found.map(|&(_, name)| name)
    };
    if let (Some(browser), Some(system)) = (known(&BROWSERS), known(&SYSTEMS)) {
        return format!("{browser} on {system}");
    }
    let plain = user_agent.chars().filter(|sign| !sign.is_control());
    let short: String = plain.take(MAX_AGENT_CHARACTERS).collect();
    if short.trim().is_empty() {
        "unknown browser".to_owned()
    } else {
        short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_when_it_is_unused_or_old() {
        let limits = SessionLimits {
            idle_ms: 10,
            lifetime_ms: 25,
        };
        for (now_ms, expected) in [(0, 10), (9, 19), (19, 25), (24, 25)] {
            assert_eq!(limits.expires_at_ms(0, now_ms), expected);
        }
    }

    #[test]
    fn use_is_recorded_once_a_minute() {
        for (now_ms, is_due) in [(0, false), (59_999, false), (60_000, true), (-1, true)] {
            assert_eq!(is_seen_due(0, now_ms), is_due, "{now_ms}");
        }
    }

    #[test]
    fn an_agent_is_browser_and_system() {
        let table = [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
                "Firefox on Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 \
                 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
                "Safari on iOS",
            ),
            ("curl/8.14.1", "curl/8.14.1"),
            (" \r\n", "unknown browser"),
        ];
        for (agent, expected) in table {
            assert_eq!(short_agent(agent), expected, "{agent}");
        }
        let long = short_agent(&"x".repeat(500));
        assert_eq!(long.len(), MAX_AGENT_CHARACTERS);
    }
}
