//! What is tried again and again, and fails each time while the database is away. Told each time, it would fill the log just
//! when somebody has to read it.

use std::fmt::Display;
use std::time::Duration;
use tokio::time::Instant;

/// How often it is told that something still fails.
const TELL_EVERY: Duration = Duration::from_mins(1);

/// Tries of one thing, of which the log tells the first failure, one a minute of those that follow, and that they are over.
pub(crate) struct Outage {
    /// What is the case while it fails, as the log says it.
    what: &'static str,
    told: Option<Instant>,
}

/// What the log tells of a try.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum News {
    Fails,
    Over,
}

impl Outage {
    pub(crate) fn of(what: &'static str) -> Self {
        Self { what, told: None }
    }

    /// Tells what a try came to, where that is news, and gives what it found.
    pub(crate) fn note<T, E: Display>(&mut self, tried: Result<T, E>) -> Option<T> {
        let news = self.news(tried.is_err(), Instant::now());
        let what = self.what;
        match tried {
            Ok(found) => {
                if news == Some(News::Over) {
                    tracing::info!("over: {what}");
                }
                Some(found)
            }
            Err(error) => {
                if news == Some(News::Fails) {
                    tracing::error!(%error, "{what}; it is tried again, and told once a minute");
                }
                None
            }
        }
    }

    fn news(&mut self, failed: bool, now: Instant) -> Option<News> {
        if !failed {
            return self.told.take().map(|_| News::Over);
        }
        let is_old = |told| now.duration_since(told) >= TELL_EVERY;
        self.told.is_none_or(is_old).then(|| {
            self.told = Some(now);
            News::Fails
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_told_one_a_minute_of_those_that_follow_and_that_they_are_over() {
        let mut outage = Outage::of("nothing is found");
        let begun = Instant::now();
        let told = (0..200).filter_map(|second| {
            let failed = (10..140).contains(&second) || second == 150;
            let news = outage.news(failed, begun + Duration::from_secs(second))?;
            Some((second, news))
        });
        let expected = [
            (10, News::Fails),
            (70, News::Fails),
            (130, News::Fails),
            (140, News::Over),
            (150, News::Fails),
            (151, News::Over),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }
}
