//! What runs on the target: prepare, measure, drain, restore.
