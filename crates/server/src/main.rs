//! ogene
fn main() {}
