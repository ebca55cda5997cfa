-- Phrases that no text may hold, beside those of the configuration: lower-case words with a space between them.
create table content_rules (
    phrase text not null primary key,
    added_at_ms bigint not null
);
