use latlab_model::Nanos;
use latlab_model::Plan;
use latlab_model::nanos::MILLISECOND;
use latlab_model::plan::Measurement;
use latlab_model::run::ThreadSetup;
use latlab_model::self_interference::*;

fn releases(cpus: [Option<u32>; 2]) -> usize {
    let thread = |(thread, cpu)| ThreadSetup {
        thread,
        cpu,
        core_type: None,
        capacity: None,
        thread_id: None,
        policy: "fifo 90".to_string(),
        period_ns: Some(MILLISECOND),
        first_release_ns: Nanos(5),
    };
    let threads: Vec<ThreadSetup> = (0..).zip(cpus).map(thread).collect();
    fixed_releases(&Measurement::new(Plan::default()).unwrap(), &threads).len()
}

#[test]
fn where_one_thread_floats_no_release_has_a_cpu() {
    assert_eq!(releases([Some(0), Some(1)]), 2);
    assert_eq!(releases([Some(0), None]), 0);
}
