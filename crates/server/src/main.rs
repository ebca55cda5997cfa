//! The binary `ogene`.

use std::process::ExitCode;

/// A thread often frees memory that another allocated. With the allocator of the system these
/// threads wait for each other (decision 0010).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    server::commands::run(std::env::args_os(), std::env::vars_os())
}
