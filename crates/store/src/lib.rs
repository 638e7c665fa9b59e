//! Run folders: journal, finishing, recovery, atomic publish.
