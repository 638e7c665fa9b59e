//! The measuring loop, its timers and its recorder.
