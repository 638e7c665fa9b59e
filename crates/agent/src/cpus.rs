//! The CPUs of this machine, as far as a plan needs them.

use crate::layout::Cpus;
use latlab_model::CpuSet;
use latlab_sys::files::Root;
use latlab_sys::sched;

/// The CPUs that this process may be placed on.
///
/// Isolated CPUs are in no default affinity mask. So a mask as wide as that of process 1 is widened
/// by the CPUs on which placing a thread works; a narrower mask was set on purpose and is kept.
pub fn cpus(root: &Root) -> Cpus {
    let online = root.read_as("sys/devices/system/cpu/online").unwrap_or_default();
    let own: CpuSet = sched::affinity().unwrap_or_default().into_iter().collect();
    let of_init: Option<CpuSet> =
        sched::affinity_of_init().ok().map(|cpus| cpus.into_iter().collect());
    let isolated: CpuSet = root.read_as("sys/devices/system/cpu/isolated").unwrap_or_default();
    let masked = of_init.is_some_and(|init| !init.without(&own).is_empty());
    let mut usable = own.clone();
    if !masked && !isolated.is_empty() {
        let candidates = isolated.and(&online);
        let placeable = candidates.iter().filter(|&cpu| sched::set_affinity([cpu]).is_ok());
        usable = own.iter().chain(placeable).collect();
        // Restore the previous mask; it was allowed a moment ago.
        let _ = sched::set_affinity(own.iter());
    }
    Cpus { online, usable }
}

/// Type and relative capacity of a core, on machines with several types.
pub fn core(root: &Root, cpu: u32) -> (Option<String>, Option<u32>) {
    let in_list = |file: &str| root.read_as::<CpuSet>(file).is_some_and(|set| set.contains(cpu));
    let kind = match () {
        () if in_list("sys/devices/cpu_core/cpus") => Some("P".to_string()),
        () if in_list("sys/devices/cpu_atom/cpus") => Some("E".to_string()),
        () => None,
    };
    let capacity = |cpu: u32| root.read_as(format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity"));
    (kind, capacity(cpu))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_cores_are_told() {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("sys/devices/system/cpu/cpu1/cpu_capacity", "446\n"),
            ("sys/devices/cpu_atom/cpus", "1\n"),
        ] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Root::new(folder.path());
        assert_eq!(core(&root, 1), (Some("E".to_string()), Some(446)));
        assert_eq!(core(&root, 0), (None, None));
    }
}
