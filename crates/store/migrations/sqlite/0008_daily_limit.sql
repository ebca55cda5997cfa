-- What an account may spend in a day of Lagos (none: as much as it has), the last day it spent on since it has a limit
-- (days since 1970), and what it was charged on that day.
alter table wallets add column limit_per_day bigint;
alter table wallets add column spent_day bigint not null default 0;
alter table wallets add column spent_today bigint not null default 0;
