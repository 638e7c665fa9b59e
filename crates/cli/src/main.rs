//! The program `latlab`.
fn main() {}
