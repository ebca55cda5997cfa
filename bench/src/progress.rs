//! The lines on standard error that show how far a measurement is.

use std::io::{self, Write};

pub(crate) fn progress(line: &str) {
    // A closed standard error does not stop the measurement.
    let _ = writeln!(io::stderr(), "{line}");
}
