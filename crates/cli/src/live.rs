//! The live view of a run.

use latlab_conduct::live::Live;
use latlab_model::{Nanos, Plan};

/// What the live view is drawn from.
pub struct View<'a> {
    pub live: &'a Live,
    pub plan: &'a Plan,
    /// Since the start of the program.
    pub elapsed: Nanos,
}

pub fn draw(_frame: &mut ratatui::Frame, _view: &View) {}

pub fn progress_line(view: &View) -> String {
    format!("{} measured", view.live.measured)
}
