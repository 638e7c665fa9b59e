//! Why the machine does not let us measure, and what to do, each in one line.

use latlab_model::frame::Refusal;
use latlab_model::plan::Policy;
use latlab_model::shell::Line;
use latlab_sys::{Errno, memory, process};

/// The plan cannot be carried out (exit code 2).
pub fn plan_is_wrong(text: String) -> Refusal {
    Refusal { plan_is_wrong: true, of_every_run: false, text }
}

/// The machine refuses this measurement (exit code 3).
pub fn machine_refuses(text: String) -> Refusal {
    Refusal { plan_is_wrong: false, of_every_run: false, text }
}

/// The machine would refuse every other measurement too.
pub fn machine_refuses_all(text: String) -> Refusal {
    Refusal { of_every_run: true, ..machine_refuses(text) }
}

const CAP_SYS_NICE: u32 = 23;

/// Why the scheduling was refused, and what to do, in one line.
pub fn scheduling_refused(policy: Policy, error: Errno) -> Refusal {
    let lacks_right = error == Errno::PERM && !process::has_capability(CAP_SYS_NICE);
    let refuses = if lacks_right { machine_refuses_all } else { machine_refuses };
    let remedy = match (policy, error) {
        (Policy::Deadline { .. }, Errno::BUSY) => {
            "the kernel's admission control has no bandwidth left: use less runtime (--policy \
             deadline:RUNTIME/DEADLINE/PERIOD) or fewer --threads"
                .to_string()
        }
        (Policy::Deadline { .. }, Errno::INVAL) => {
            "expected 1024 ns <= runtime <= deadline <= period".to_string()
        }
        (_, Errno::SRCH) => {
            "the thread has ended, for example because its CPU went offline".to_string()
        }
        _ if process::has_capability(CAP_SYS_NICE) => {
            "the right exists, but this cgroup has no real-time budget (RT_GROUP_SCHED): move \
             this shell to the root of the cpu controller, or set cpu.rt_runtime_us of the group"
                .to_string()
        }
        _ => remedy(),
    };
    refuses(format!("cannot set the policy {policy} ({error}): {remedy}"))
}

/// Why the memory could not be locked, and what to do, in one line.
pub fn memory_lock_refused(error: Errno) -> Refusal {
    let reason = match (error, memory::lock_limit()) {
        // The kernel reports `out of memory` if the limit is too small.
        (Errno::NOMEM | Errno::AGAIN, Some(bytes)) => {
            format!("its limit, `ulimit -l`, is {} KiB", bytes / 1024)
        }
        _ => error.to_string(),
    };
    machine_refuses_all(format!("cannot lock the memory ({reason}): {}", remedy()))
}

/// How to get the privileges.
pub fn remedy() -> String {
    if process::effective_user() == 0 {
        return "root lacks the right here (a container?): start it with `--cap-add SYS_NICE \
                --cap-add IPC_LOCK --ulimit rtprio=99 --ulimit memlock=-1`, or measure without a \
                real-time priority with --policy other"
            .to_string();
    }
    let program = std::env::current_exe().unwrap_or_else(|_| "latlab".into());
    let once = Line::new("sudo setcap cap_sys_nice,cap_ipc_lock+ep").word(program);
    format!(
        "use sudo; or run once `{once}`; or add `* - \
         rtprio 99` and `* - memlock unlimited` to /etc/security/limits.d/latlab.conf and log in \
         again; or measure without a real-time priority with --policy other --idle-states system"
    )
}
