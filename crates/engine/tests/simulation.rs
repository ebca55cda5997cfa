//! A simulation of the real engine with its real store in memory. Carriers, receivers and the disk
//! fail as a seed decides. It runs on one thread with paused time, so the same seed always gives
//! the same run.

#[cfg(test)]
mod simulation {
    mod carrier;
    mod changes;
    mod checks;
    mod codes;
    mod customers;
    mod dice;
    mod fault;
    mod laws;
    mod life;
    mod payments;
    mod provider;
    mod receiver;
    mod rules;
    mod runs;
    mod state;
    mod transfers;
    mod world;
}
