//! Macros that make tests of rules. A rule is a function over a [`crate::Kit`].

/// Makes the two tests of each rule: one on SQLite, one on PostgreSQL.
#[macro_export]
macro_rules! twins {
    ($($rule:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                let kit = $crate::Kit::sqlite().await;
                super::$rule(&kit).await;
                kit.finish().await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                testkit::needs!(Postgres);
                let kit = $crate::Kit::postgres().await;
                super::$rule(&kit).await;
                kit.finish().await;
            })+
        }
    };
}

/// Makes a third test of rules: on PostgreSQL, as if several servers had the buckets.
#[macro_export]
macro_rules! spread {
    ($($rule:ident),+ $(,)?) => {
        mod spread {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                testkit::needs!(Postgres);
                let kit = $crate::Kit::postgres().await.spread();
                super::$rule(&kit).await;
                kit.finish().await;
            })+
        }
    };
}
