//! Faults of the journal.

use super::kinds::{FindingWords, Said, Worded, words};
use latlab_model::finding::{JournalFinding, JournalPart};
use latlab_model::shell::Line;
use latlab_model::units::{counted, grouped};

words! { JournalFinding {
    /// The journal was written, but the disk did not confirm that it survives a power cut.
    JournalNotSynced { error } =>
        says "The journal could not be synced to the disk: {error}.";
        remedy "Check the disk.";

    /// The folder of the run was deleted during the run. It was written again completely.
    FolderDeleted { bytes, folder } =>
        says "The folder of this run was deleted during the run. The journal of {bytes} bytes was written \
              again to {folder}; nothing is lost.",
            bytes = grouped(*bytes);

    /// A part of the journal could not be written: most often the disk is full.
    JournalNotWritten { frames, error } =>
        says "{frames} could not be written to the journal: {error}.",
            frames = counted(*frames, "frame", "frames");
        remedy "Free some space, or use --out on a larger disk.";

    /// An interrupted run ends within a frame, as after a kill or a power cut.
    JournalCut { bytes } =>
        says "The last {bytes} bytes of the journal are not a complete frame. The run contains everything \
              before them.",
            bytes = grouped(*bytes);

    /// Bytes of the journal are damaged and lost. Invalid unless they are at its end.
    JournalDamaged
    { bytes, part: JournalPart::Middle, .. } =>
        says "{bytes} bytes in the middle of the journal are damaged and lost; the run contains everything \
              before and after them.",
            bytes = grouped(*bytes);
        remedy CHECK;
    { bytes, part: JournalPart::End, damage: Some(damage) } =>
        says "The last {bytes} bytes of the journal are damaged ({damage}). The run contains everything before \
              them.",
            bytes = grouped(*bytes);
        remedy CHECK;
    { bytes, part: JournalPart::End, damage: None } =>
        says "The last {bytes} bytes of the journal are damaged. The run contains everything before them.",
            bytes = grouped(*bytes);
        remedy CHECK;
}}

const CHECK: &str = "Check the disk and the memory. The journal is kept in the folder of the run.";
