//! The only home of unsafe code and of kernel files.
