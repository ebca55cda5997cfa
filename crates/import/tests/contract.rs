//! The contract of the import: every row is moved once and unchanged, or nothing counts as moved.

#[cfg(test)]
mod contract {
    mod moving;
}
