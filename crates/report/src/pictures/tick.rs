//! A name on an axis.

/// A named place of an axis, from 0 at its lower end to 1 at its upper one.
pub struct Tick {
    pub place: f64,
    pub name: String,
}
