-- What the sandbox simulated goes after a day: messages and callbacks of it are found without looking through all others.
create index messages_of_sandbox on messages (bucket, message_id) where sandbox;
create index callbacks_of_sandbox on callbacks (bucket, message_id) where sandbox;
