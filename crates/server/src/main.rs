//! The binary `ogene`.

use std::process::ExitCode;

fn main() -> ExitCode {
    server::commands::run(std::env::args_os(), std::env::vars())
}
