# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_latlab_global_optspecs
    string join \n h/help V/version
end

function __fish_latlab_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_latlab_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_latlab_using_subcommand
    set -l cmd (__fish_latlab_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c latlab -n "__fish_latlab_needs_command" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_needs_command" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "run" -d 'Measure how late this machine is, and store the run; or all that a sheet says'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "respond" -d 'Measure how fast a pin answers a pin: from captures, or in a simulator'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "doctor" -d 'Say what on this machine, or on that of a run, costs latency, and how to mend it'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "lab" -d 'Kernels for guests in virtual time: list them, or get them'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "loads" -d 'List the programs that can load the machine during a run'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "scenarios" -d 'List the ready-made sheets, and the question that each answers'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "list" -d 'List the stored runs, newest first'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "show" -d 'Show a stored run in the terminal'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "report" -d 'Write a stored run as one self-contained HTML page'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "plot" -d 'Draw a stored run, or several on one scale'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "serve" -d 'Show the stored runs and those that go on in a browser'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "verify" -d 'Check that stored runs are as they were stored'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "cyclictest" -d 'Measure and print as cyclictest does, with its options; also by a link of that name'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "completions" -d 'Print what completes these commands in a shell'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "agent" -d 'Measure for another latlab, or write the program that does so on a board'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l instrument -d 'Method of measuring: cyclic (how late a sleep ends), handoff (how late a thread is that another one wakes), spin (time taken from a busy loop), timerlat (the kernel\'s own tracer)' -r -f -a "cyclic\t''
handoff\t''
spin\t''
timerlat\t''
respond\t''"
complete -c latlab -n "__fish_latlab_using_subcommand run" -l wake -d 'How handoff wakes: futex, pipe, signal, eventfd, mq (POSIX queue), sysv (semaphore) [default: futex]' -r -f -a "futex\t''
pipe\t''
signal\t''
eventfd\t''
mq\t''
sysv\t''"
complete -c latlab -n "__fish_latlab_using_subcommand run" -l mechanism -d 'How a thread sleeps until its release: nanosleep (absolute), relative, timerfd, posix-timer [default: nanosleep]' -r -f -a "nanosleep\t''
relative\t''
timerfd\t''
posix-timer\t''"
complete -c latlab -n "__fish_latlab_using_subcommand run" -l clock -d 'Clock of the releases: monotonic, tai, realtime [default: monotonic]' -r -f -a "monotonic\t''
tai\t''
realtime\t''"
complete -c latlab -n "__fish_latlab_using_subcommand run" -l policy -d 'Scheduling: fifo, rr, other, batch, idle, or deadline[:RUNTIME/DEADLINE/PERIOD] [default: fifo; other with spin]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -s p -l priority -d 'Priority of fifo and rr, 1 to 99 [default: 90]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l gap-above -d 'spin: a pass longer than the usual one by more than this is a gap [default: 1us]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l workload -d 'spin: what each pass does: none, memmove [default: none]' -r -f -a "none\t''
memmove\t''"
complete -c latlab -n "__fish_latlab_using_subcommand run" -l workload-size -d 'spin: bytes that the workload works on, such as 64K [default: 4K]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -s a -l cpus -d 'CPUs to measure, such as 1-3 [default: all that this process may use]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l target -d 'What to measure: local (this machine), or a guest in virtual time such as lab:x86-64/rt [default: local]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l kernel -d 'A kernel of one\'s own for a target without one, such as lab:arm64' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand run" -l modules -d 'The folder with its modules, of which those of virtio are needed unless they are built in' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand run" -l dtb -d 'The device tree, where QEMU has none of its own' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand run" -l smp -d 'CPUs of a guest in the host\'s time' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l fault -d 'Plant a fault, to see what it looks like: irqs-off@5s:2ms, fifo-hog@2s:500ms:prio95, printk-storm, softirq-flood, clock-step, tiny-memory; with --realtime also cpu-offline@4s:1, hypervisor-pause@3s:20ms' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -s t -l threads -d 'Number of measuring threads, dealt out to the CPUs in turn [default: one for each CPU]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l wakers-on -d 'CPUs of the threads that wake (handoff), in turn [default: that of the woken thread]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l helpers-on -d 'CPUs for everything of latlab that does not measure [default: those not measured]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -s i -l period -d 'Distance of releases; one that divides the tick sees always the same part of it [default: 997us]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l period-step -d 'Thread k has a period longer by k times this' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l phase -d 'Offsets of the threads: aligned, spread (evenly, from a random start), random [default: spread]' -r -f -a "aligned\t''
spread\t''
random\t''"
complete -c latlab -n "__fish_latlab_using_subcommand run" -l missed -d 'Releases already past when a cycle ends are counted and: skip, catch-up (served late) [default: skip]' -r -f -a "skip\t''
catch-up\t''"
complete -c latlab -n "__fish_latlab_using_subcommand run" -l warm-up -d 'Cycles before the counting starts' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l seed -d 'Seed of the random offsets [default: from the clock; stored in the run]; a guest in virtual time measures the same with the same seed, to the last bit' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l interval -d 'Length of the intervals that are stored' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -s D -l for -d 'Length of the run [default: until Ctrl-C]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -s l -l cycles -d 'Cycles of every thread' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l deadline -d 'Judge the run: a release served later than this is a miss' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -s b -l stop-above -d 'End the run at the first latency above this (exit code 1)' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l on-spike -d 'Run a command for a spike, at most once a second; it reads the spike as JSON' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l spike-above -d 'A latency above this is a spike [default: the deadline, else --stop-above]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l telemetry -d 'Store temperature, frequency, load and more this often (100ms to 1h), or off' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l name -d 'Name of the run, part of its folder\'s name' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l note -d 'A remark to be stored with the run' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l load -d 'Run a load meanwhile, by its name; several run at once (`latlab loads` lists them)' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l load-on -d 'CPUs of the loads: everywhere, measured, others (not measured), or a list' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l loads -d 'Folder of further definitions of loads' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand run" -l tune -d 'Tune the machine for the time of the run: governor=NAME, irqs=away, rt-throttling=off, fair-server=off, thp=never|madvise|always, timer-migration=off, workqueues=away, irq-thread:PATTERN=PRIORITY' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l set -d 'Write a kernel file for the time of the run: /sys/FILE=VALUE, or NAME=VALUE as sysctl has it' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l idle-states -d 'Only idle states that are left within this time, or `system` to leave them as they are' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l scale -d 'Every scenario this long, or with so many cycles, for a try' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l repeats -d 'Measure each row of the sheet this often' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l seeds -d 'Measure each row once with each of these seeds, such as 1..5' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l resume -d 'Go on with a campaign that was cut off [default: the last one that is not complete]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand run" -l format -d 'How to print the result: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand run" -l realtime -d 'In the host\'s time, by KVM where that works: noisy, and never the same again'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l console -d 'Print what the guest\'s kernel says while it runs; for a sheet, of all its guests'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l samples -d 'Store every latency with its release, in about two bytes each'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l legs -d 'Split each latency into its legs by the kernel\'s tracepoints, and measure what they cost'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l keep-going -d 'Go on when the terminal is closed (SIGHUP), instead of ending cleanly'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l share -d 'Measure CPUs that another latlab measures already'
complete -c latlab -n "__fish_latlab_using_subcommand run" -s q -l quiet -d 'No progress, no live table'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l dry-run -d 'Only say what a sheet, or --resume, would run, in which order, and how long that takes'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l skip-missing -d 'Leave out scenarios whose programs are not here, instead of refusing'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l print-unit -d 'Print a systemd unit that goes on with the campaign after each boot'
complete -c latlab -n "__fish_latlab_using_subcommand run" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand run" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l from -d 'Captures: sigrok .sr, VCD, CSV (Saleae, Tektronix and others), ISF, lists of readings; a run of each' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l simulate -d 'Run the firmware in a simulator: uno:irq, uno:irq-notimer, uno:polling' -r -f -a "uno:irq\t''
uno:irq-notimer\t''
uno:polling\t''"
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l stimulus -d 'The channel with the stimuli; with --simulate their times: square:10kHz or random:10ms..20ms [default there: random:1ms..2ms]' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l response -d 'The channel with the responses' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l marker -d 'A channel that is high while something goes on that may disturb' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l threshold -d 'Where an edge is: a share of the way from low to high, or a level (1.65V)' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l hysteresis -d 'How far a level must go beyond the threshold, both ways together' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l edge -d 'Which edges are stimuli: rising, falling, both' -r -f -a "rising\t''
falling\t''
both\t''"
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l response-edge -d 'Which edges are responses [default: as --edge]' -r -f -a "rising\t''
falling\t''
both\t''"
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l quiet -d 'A stimulus comes after so long without one: a burst is one [default: each edge is one]' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l window -d 'How long a response may take; a later one is late [default: up to the next stimulus]' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l unit -d 'Unit of a list of readings that does not say it: s, ms, us, ns' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l edges -d 'Stimuli of a simulation' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l seed -d 'Seed of random stimuli: the same one gives the same run, bit for bit' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l keep -d 'Keep the simulated capture in this folder, as VCD and CSV' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l deadline -d 'Judge each run against this longest allowed response time' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l name -d 'Name of the run [default: that of the file, or what is simulated]' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l note -d 'A remark that is stored with the run' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l format -d 'How to print the result: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l join -d 'The files are the channels of one capture'
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l look -d 'Only look: channels, rate, duration, edges and a picture of each capture'
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l lto -d 'Link the firmware with optimisation of the whole program, as the Arduino IDE does'
complete -c latlab -n "__fish_latlab_using_subcommand respond" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand respond" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l root -d 'Examine a folder that looks like /, or a snapshot file' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l against -d 'Say what changed since: a run, a snapshot file, or a folder that looks like /' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l save -d 'Store the kernel files as a snapshot file, - for standard output' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l fail-on -d 'Exit with 1 at a finding of this weight or more: info, warning, error' -r -f -a "info\t''
warning\t''
error\t''"
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l only -d 'Only findings with these codes' -r -f -a "not-realtime\t''
preempt-mode\t''
preemption-contradiction\t''
preempt-ignored\t''
preemption-unknown\t''
configuration-unknown\t''
rt-throttling\t''
rt-throttled\t''
rt-runtime-unlimited\t''
fair-server\t''
rt-group-scheduling\t''
autogroup\t''
rcu-callbacks\t''
rcu-boost-missing\t''
rcu-expedited\t''
debug-locks\t''
debug-memory\t''
debug-preemption\t''
debug-checks\t''
tainted\t''
mitigations\t''
mitigations-off\t''
split-locks\t''
nmi-watchdog\t''
soft-watchdog\t''
lockup-panics\t''
stall-reported\t''
isolation-refused\t''
isolation-wrong-cpus\t''
isolated-with-tick\t''
tickless-not-isolated\t''
idle-poll\t''
idle-limit-ignored\t''
threadirqs\t''
ticks-together\t''
audit\t''
parameters-contradict\t''
parameters-unknown\t''
no-high-resolution-timers\t''
tick-rate\t''
tick-always\t''
nohz-full-unsupported\t''
slow-clocksource\t''
clocksource-forced\t''
tsc-unstable\t''
guest-clock\t''
timer-migration\t''
shared-timer-device\t''
governor\t''
energy-preference\t''
frequency-limit\t''
frequency-floor\t''
boost\t''
processor-frequency\t''
frequency-claimed\t''
deep-idle\t''
no-idle-driver\t''
resume-latency\t''
smt\t''
no-isolation\t''
isolated-workqueues\t''
unlike-cores\t''
offline-cpus\t''
single-cpu\t''
isolated-interrupts\t''
interrupt-affinity\t''
default-affinity\t''
one-interrupt-cpu\t''
interrupt-threads\t''
usb-interrupts\t''
interrupt-errors\t''
softirq-threads\t''
swap\t''
low-memory\t''
zswap\t''
numa-balancing\t''
numa-nodes\t''
statistics-interval\t''
dirty-memory\t''
huge-pages\t''
huge-page-defrag\t''
khugepaged\t''
ksm\t''
compact-unevictable\t''
proactive-compaction\t''
page-generations\t''
hot\t''
unreadable-temperature\t''
cooling\t''
throttled-since-start\t''
no-temperature\t''
firmware-throttles\t''
firmware-has-throttled\t''
low-voltage\t''
usb-fast-interrupt\t''
board-clock\t''
narrow-kernel\t''
usb-network\t''
sysfs-missing\t''
guest\t''
stolen-time\t''
container\t''
firmware-interrupts\t''
old-firmware\t''
error-polling\t''
bus-frequency\t''
gpio-chips\t''
no-realtime-rights\t''
memory-lock-limit\t''
realtime-timeout\t''
affinity-narrow\t''
realtime-group\t''
seccomp\t''
tracers\t''
tracer-active\t''
tracing-closed\t''
perf-interrupts\t''
profiling\t''
statistics\t''
irqbalance\t''
tuning-daemons\t''
higher-realtime-threads\t''
realtime-kit\t''
background-work\t''"
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l ignore -d 'No findings with these codes' -r -f -a "not-realtime\t''
preempt-mode\t''
preemption-contradiction\t''
preempt-ignored\t''
preemption-unknown\t''
configuration-unknown\t''
rt-throttling\t''
rt-throttled\t''
rt-runtime-unlimited\t''
fair-server\t''
rt-group-scheduling\t''
autogroup\t''
rcu-callbacks\t''
rcu-boost-missing\t''
rcu-expedited\t''
debug-locks\t''
debug-memory\t''
debug-preemption\t''
debug-checks\t''
tainted\t''
mitigations\t''
mitigations-off\t''
split-locks\t''
nmi-watchdog\t''
soft-watchdog\t''
lockup-panics\t''
stall-reported\t''
isolation-refused\t''
isolation-wrong-cpus\t''
isolated-with-tick\t''
tickless-not-isolated\t''
idle-poll\t''
idle-limit-ignored\t''
threadirqs\t''
ticks-together\t''
audit\t''
parameters-contradict\t''
parameters-unknown\t''
no-high-resolution-timers\t''
tick-rate\t''
tick-always\t''
nohz-full-unsupported\t''
slow-clocksource\t''
clocksource-forced\t''
tsc-unstable\t''
guest-clock\t''
timer-migration\t''
shared-timer-device\t''
governor\t''
energy-preference\t''
frequency-limit\t''
frequency-floor\t''
boost\t''
processor-frequency\t''
frequency-claimed\t''
deep-idle\t''
no-idle-driver\t''
resume-latency\t''
smt\t''
no-isolation\t''
isolated-workqueues\t''
unlike-cores\t''
offline-cpus\t''
single-cpu\t''
isolated-interrupts\t''
interrupt-affinity\t''
default-affinity\t''
one-interrupt-cpu\t''
interrupt-threads\t''
usb-interrupts\t''
interrupt-errors\t''
softirq-threads\t''
swap\t''
low-memory\t''
zswap\t''
numa-balancing\t''
numa-nodes\t''
statistics-interval\t''
dirty-memory\t''
huge-pages\t''
huge-page-defrag\t''
khugepaged\t''
ksm\t''
compact-unevictable\t''
proactive-compaction\t''
page-generations\t''
hot\t''
unreadable-temperature\t''
cooling\t''
throttled-since-start\t''
no-temperature\t''
firmware-throttles\t''
firmware-has-throttled\t''
low-voltage\t''
usb-fast-interrupt\t''
board-clock\t''
narrow-kernel\t''
usb-network\t''
sysfs-missing\t''
guest\t''
stolen-time\t''
container\t''
firmware-interrupts\t''
old-firmware\t''
error-polling\t''
bus-frequency\t''
gpio-chips\t''
no-realtime-rights\t''
memory-lock-limit\t''
realtime-timeout\t''
affinity-narrow\t''
realtime-group\t''
seccomp\t''
tracers\t''
tracer-active\t''
tracing-closed\t''
perf-interrupts\t''
profiling\t''
statistics\t''
irqbalance\t''
tuning-daemons\t''
higher-realtime-threads\t''
realtime-kit\t''
background-work\t''"
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l format -d 'How to print the result: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -s v -l verbose -d 'Say everything of everything'
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l list -d 'Print the catalogue: all that the doctor knows'
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l restore -d 'Put back the kernel files that a killed latlab has left changed, and do nothing else'
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and not __fish_seen_subcommand_from kernels list fetch stress-five threads" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and not __fish_seen_subcommand_from kernels list fetch stress-five threads" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and not __fish_seen_subcommand_from kernels list fetch stress-five threads" -f -a "kernels" -d 'List the kernels, and which of them are here'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and not __fish_seen_subcommand_from kernels list fetch stress-five threads" -f -a "list" -d 'List the kernels, and which of them are here'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and not __fish_seen_subcommand_from kernels list fetch stress-five threads" -f -a "fetch" -d 'Get kernels from Debian\'s archive; nothing is installed'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and not __fish_seen_subcommand_from kernels list fetch stress-five threads" -f -a "stress-five" -d 'The five classic loads on stock and on PREEMPT_RT, side by side in virtual time: the sheet lab-stress-five'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and not __fish_seen_subcommand_from kernels list fetch stress-five threads" -f -a "threads" -d 'One thread and 16 threads on one CPU, on stock and on PREEMPT_RT, in virtual time: the sheet lab-threads'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from kernels" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from kernels" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from fetch" -l qemu -d 'The newer QEMU of Debian\'s backports as well: a target such as lab:x86-64/rt,new-qemu runs on it'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from fetch" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from fetch" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from stress-five" -l seeds -d 'Seeds of the guests, such as 1..5: each is an independent repeat' -r
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from stress-five" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from stress-five" -l format -d 'How to print the result: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from stress-five" -s q -l quiet -d 'No progress'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from stress-five" -l console -d 'Print what the kernels of the guests say while they run'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from stress-five" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from stress-five" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from threads" -l seeds -d 'Seeds of the guests, such as 1..5: each is an independent repeat' -r
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from threads" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from threads" -l format -d 'How to print the result: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from threads" -s q -l quiet -d 'No progress'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from threads" -l console -d 'Print what the kernels of the guests say while they run'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from threads" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from threads" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand loads; and not __fish_seen_subcommand_from show" -l loads -d 'Folder of further definitions, before all others' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand loads; and not __fish_seen_subcommand_from show" -l format -d 'How to print: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand loads; and not __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand loads; and not __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand loads; and not __fish_seen_subcommand_from show" -f -a "show" -d 'Print the definition of a load, to be used as it is or as a start for another'
complete -c latlab -n "__fish_latlab_using_subcommand loads; and __fish_seen_subcommand_from show" -l loads -d 'Folder of further definitions, before all others' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand loads; and __fish_seen_subcommand_from show" -l format -d 'How to print: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand loads; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand loads; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand scenarios; and not __fish_seen_subcommand_from show" -l format -d 'How to print: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand scenarios; and not __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand scenarios; and not __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand scenarios; and not __fish_seen_subcommand_from show" -f -a "show" -d 'Print a ready-made sheet, to be used as it is or as a start for another'
complete -c latlab -n "__fish_latlab_using_subcommand scenarios; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand scenarios; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand list" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand list" -l format -d 'How to print the list: text, json, markdown' -r -f -a "text\t''
json\t''
markdown\t''"
complete -c latlab -n "__fish_latlab_using_subcommand list" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand list" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand show" -l window -d 'Only a stretch of a run with samples: times in UTC, or since the first release (+10s)' -r
complete -c latlab -n "__fish_latlab_using_subcommand show" -l format -d 'How to print the result: text, json, markdown; with --window text, json, csv (every sample)' -r -f -a "text\t''
json\t''
markdown\t''
csv\t''"
complete -c latlab -n "__fish_latlab_using_subcommand show" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand show" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand show" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand report" -s o -l output -d 'The page to write, - for standard output [default: report.html in the run\'s folder, comparison.html in the first one\'s where several are compared]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand report" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand report" -l format -d 'How to print the result: text, json; the table of a campaign also: markdown, csv, junit' -r -f -a "text\t''
json\t''
markdown\t''
csv\t''
junit\t''"
complete -c latlab -n "__fish_latlab_using_subcommand report" -l open -d 'Open the page in $BROWSER, else with xdg-open'
complete -c latlab -n "__fish_latlab_using_subcommand report" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand report" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand plot" -s k -l kind -d 'What to draw: latency, tail, cdf, ccdf, cpus; over time: flow, heatmap, telemetry; phase' -r -f -a "latency\t''
tail\t''
cdf\t''
ccdf\t''
cpus\t''
flow\t''
heatmap\t''
telemetry\t''
phase\t''"
complete -c latlab -n "__fish_latlab_using_subcommand plot" -s o -l output -d 'The picture to write, - for standard output [default: KIND.svg in the first run\'s folder]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l format -d 'Format of the picture: svg, png [default: by the end of the file\'s name, else svg]' -r -f -a "svg\t''
png\t''"
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l range -d 'Only latencies between these; what lies outside is counted in the picture' -r
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l window -d 'Only this part of the run, over time: UTC, or since the first release (+10s)' -r
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l fold -d 'With --kind phase, the period to fold with [default: that of the run\'s marker]' -r
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l width -d 'Width of the picture in pixels, 280 to 10000' -r
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l scale -d 'Pixels of a PNG for each pixel of the width' -r
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l linear -d 'A linear axis of latencies [default: what shows the runs best]'
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l log -d 'A logarithmic axis of latencies'
complete -c latlab -n "__fish_latlab_using_subcommand plot" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand plot" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand serve" -l port -d 'Port to listen at, 0 for any that is free [default: 8137, else any that is free]' -r
complete -c latlab -n "__fish_latlab_using_subcommand serve" -l listen -d 'Address to listen at, which needs a token unless it is this machine only [default: 127.0.0.1]' -r
complete -c latlab -n "__fish_latlab_using_subcommand serve" -l token -d 'A secret that the browser must know; others on this machine see it in the list of processes' -r
complete -c latlab -n "__fish_latlab_using_subcommand serve" -l token-file -d 'A file that holds it' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand serve" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand serve" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand verify" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand verify" -l format -d 'How to print the result: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand verify" -l all -d 'Every stored run, those of campaigns too'
complete -c latlab -n "__fish_latlab_using_subcommand verify" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand verify" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand cyclictest" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand completions" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand completions" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand agent" -l write -d 'Write the agent for a machine, by what `uname -m` says there: aarch64, armv7l, x86_64' -r
complete -c latlab -n "__fish_latlab_using_subcommand agent" -s o -l output -d 'The program to write, - for standard output [default: latlab-agent-MACHINE]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand agent" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand agent" -s V -l version -d 'Print version'
