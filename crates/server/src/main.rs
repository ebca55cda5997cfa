//! The binary `ogene`.

use std::process::ExitCode;

/// Memory is given back on other threads than those that asked for it, all the time: the system's allocator has
/// them wait for each other (decision 0010).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    server::commands::run(std::env::args_os(), std::env::vars_os())
}
