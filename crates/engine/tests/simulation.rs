//! A simulation of the engine: the real one, with its real store in memory, among carriers and receivers that a
//! seed has behave as badly as they do. It runs on one thread whose time is paused, so the same seed gives the
//! same run, whatever else the machine does.

#[cfg(test)]
mod simulation {
    mod carrier;
    mod checks;
    mod customers;
    mod dice;
    mod fault;
    mod life;
    mod receiver;
    mod rules;
    mod runs;
    mod state;
    mod world;
}
