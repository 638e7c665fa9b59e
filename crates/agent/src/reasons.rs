//! Why threads are asked to end: bits of the flags that the loop checks in every cycle.

use latlab_measure::cyclic::EndCode;
use latlab_model::run::EndReason;
use std::sync::atomic::AtomicU8;

/// Ends all measuring threads of this process when it is not 0.
pub static STOP: AtomicU8 = AtomicU8::new(0);

/// The user or the conductor asked for it.
pub const INTERRUPTED: u8 = 1;
/// A thread saw a latency above the limit.
pub const STOP_ABOVE: u8 = 2;
/// The thread's CPU is offline.
pub const CPU_OFFLINE: u8 = 4;
/// A thread ran too long without sleeping.
pub const RAN_AWAY: u8 = 8;
/// Another thread has finished its cycles, which was to end all.
pub const FIRST_ENDED: u8 = 16;
/// The thread sleeps past the end of the run because its waker does not come.
pub const OVERDUE: u8 = 32;

/// The gravest reason among the bits of a flag.
pub fn reason_of_bits(bits: u8) -> EndReason {
    match bits {
        bits if bits & RAN_AWAY != 0 => EndReason::RanAway,
        bits if bits & CPU_OFFLINE != 0 => EndReason::CpuOffline,
        bits if bits & STOP_ABOVE != 0 => EndReason::StopAbove,
        FIRST_ENDED | OVERDUE => EndReason::Finished,
        _ => EndReason::Interrupted,
    }
}

/// Why a loop ended, as the run reports it.
pub fn reason_of(ending: EndCode) -> EndReason {
    match ending {
        EndCode::Finished => EndReason::Finished,
        EndCode::Stopped(bits) => reason_of_bits(bits),
        EndCode::StopAbove => EndReason::StopAbove,
        EndCode::RecorderFull => EndReason::RecorderFull,
        EndCode::Failed(_) => EndReason::Failed,
    }
}
