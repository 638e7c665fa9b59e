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
complete -c latlab -n "__fish_latlab_needs_command" -f -a "run" -d 'Measure wake-up latency and store the run; or measure all runs of a sheet'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "attach" -d 'Measure the threads of your own program: are its cycles in time, and what delays them?'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "respond" -d 'Measure how fast a pin answers a pin, from captures or in a simulator'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "plan" -d 'Compute how long a run must be to exclude a rate of deadline misses'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "import" -d 'Turn recordings of other tools into runs: cyclictest, rtla, jitterdebugger and more'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "export" -d 'Write a stored run in the format of another tool: cyclictest, Prometheus, Perfetto and more'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "doctor" -d 'Find settings of this machine, or of a run\'s machine, that cost latency'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "tune" -d 'Prove which settings of this machine help, and make them for good'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "lab" -d 'List or download kernels for guests in virtual time'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "target" -d 'Name boards, set their defaults, and show what runs on them'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "collect" -d 'Fetch runs that a board measured on its own (`latlab run --detach`), and store them'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "loads" -d 'List the loads that can run beside a measurement'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "scenarios" -d 'List the ready-made sheets'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "list" -d 'List the stored runs, newest first'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "show" -d 'Show a stored run in the terminal'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "explain" -d 'Tell what delayed the thread in each spike of a run with `--explain`'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "report" -d 'Write stored runs as one self-contained HTML page'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "compare" -d 'Judge whether some runs are worse than others'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "trend" -d 'Follow a figure over builds, and judge the newest'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "fleet" -d 'Keep the runs of many boards in tables, and query these (with the Python package)'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "plot" -d 'Draw stored runs as SVG or PNG'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "serve" -d 'Serve stored and running measurements to a browser'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "verify" -d 'Check stored runs for damage'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "cyclictest" -d 'Measure with the options and output of cyclictest; also through a link of that name'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "completions" -d 'Generate shell completions'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "agent" -d 'Run as the measuring agent of another latlab, or write the agent program'
complete -c latlab -n "__fish_latlab_needs_command" -f -a "watch" -d 'Measure a little, often, within a budget of CPU time and disk'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l instrument -d 'Method of measuring: cyclic (a thread sleeps until its release), handoff (another thread wakes it), spin (gaps in a busy loop), timerlat (the kernel\'s tracer)' -r -f -a "cyclic\t''
handoff\t''
spin\t''
timerlat\t''
attach\t''
respond\t''
import\t''"
complete -c latlab -n "__fish_latlab_using_subcommand run" -l wake -d 'handoff: how threads are woken: futex, pipe, signal, eventfd, mq (POSIX queue), sysv (semaphore) [default: futex]' -r -f -a "futex\t''
pipe\t''
signal\t''
eventfd\t''
mq\t''
sysv\t''"
complete -c latlab -n "__fish_latlab_using_subcommand run" -l mechanism -d 'How threads sleep: nanosleep (until an absolute time), relative, timerfd, posix-timer [default: nanosleep]' -r -f -a "nanosleep\t''
relative\t''
timerfd\t''
posix-timer\t''"
complete -c latlab -n "__fish_latlab_using_subcommand run" -l timer-slack -d 'How late the kernel may end a sleep, to save wake-ups; for the policies other, batch and idle. A program that sets none has 50us [default: 1ns]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l clock -d 'Clock of the releases: monotonic, tai, realtime [default: monotonic]' -r -f -a "monotonic\t''
tai\t''
realtime\t''"
complete -c latlab -n "__fish_latlab_using_subcommand run" -l policy -d 'Scheduling policy: fifo, rr, other, batch, idle, deadline[:RUNTIME/DEADLINE/PERIOD] [default: fifo; other with spin]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -s p -l priority -d 'Priority of fifo and rr, 1 to 99 [default: 90]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l gap-above -d 'spin: record a gap if a pass is longer than the usual one by more than this [default: 1us]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l workload -d 'spin: work of each pass: none, memmove [default: none]' -r -f -a "none\t''
memmove\t''"
complete -c latlab -n "__fish_latlab_using_subcommand run" -l workload-size -d 'spin: memory of the workload, such as 64K [default: 4K]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -s a -l cpus -d 'CPUs to measure, such as 1-3 [default: all that this process may use]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l target -d 'Machine to measure: local, a board such as ssh://pi@board or its name, a place of labgrid such as labgrid:board-7 or labgrid:arch=arm64, or a guest in virtual time such as lab:x86-64/rt [default: local]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l kernel -d 'Kernel image of your own, for a target without one such as lab:arm64' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l modules -d 'Folder with its modules; needed unless the virtio drivers are built in' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l dtb -d 'Device tree, for machines without one in QEMU' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l smp -d 'Number of CPUs of the guest, with --realtime' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l fault -d 'Inject a fault: irqs-off@5s:2ms, fifo-hog@2s:500ms:prio95, printk-storm, softirq-flood, clock-step, tiny-memory; with --realtime also cpu-offline@4s:1, hypervisor-pause@3s:20ms' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -s t -l threads -d 'Number of measuring threads, assigned to the CPUs in turn [default: one per CPU]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l wakers-on -d 'handoff: CPUs of the waking threads, in turn [default: that of the woken thread]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l helpers-on -d 'CPUs of latlab\'s helper threads [default: those not measured]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -s i -l period -d 'Time between releases; a period that divides the kernel tick always meets the same phase [default: 997us]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l period-step -d 'Make the period of each further thread longer by this' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l phase -d 'Offsets of the threads\' releases: aligned, spread (evenly, from a random start), random [default: spread]' -r -f -a "aligned\t''
spread\t''
random\t''"
complete -c latlab -n "__fish_latlab_using_subcommand run" -l overruns -d 'Releases that are past when a cycle ends: skip, catch-up (serve them late); both count them [default: skip]' -r -f -a "skip\t''
catch-up\t''"
complete -c latlab -n "__fish_latlab_using_subcommand run" -l warm-up -d 'Time at the start that is measured and not counted' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l seed -d 'Seed of the random offsets [default: from the clock; stored in the run]. With the same seed a guest in virtual time gives the same run' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l interval -d 'Length of the stored intervals' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -s D -l for -d 'Length of the run [default: until Ctrl-C]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -s l -l cycles -d 'Number of cycles of each thread' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l deadline -d 'Judge the run: a latency above this is a deadline miss' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l limit -d 'Allow up to RATE bursts of deadline misses (0.1/h, 1/d) before failing' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -s b -l stop-above -d 'End the run at the first latency above this (exit code 1)' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l on-spike -d 'Run a command for a spike, at most once a second, with the spike as JSON on its input' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l spike-above -d 'Latency above which --on-spike runs [default: the deadline, else --stop-above] and --explain records [default: the tenth largest so far, later p99.99]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l telemetry -d 'How often to read temperature, frequency, load and more: 100ms to 1h, or off. full (or full,5s): also files that take long to read, where every CPU is measured' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l board-folder -d 'Folder there for the detached run [default: ~/.cache/latlab/runs, else memory]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l name -d 'Name of the run, used in the name of its folder' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l note -d 'Note to store with the run' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l load -d 'Run this load during the measurement; may be repeated (`latlab loads` lists them)' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l load-on -d 'CPUs of the loads: everywhere, measured, others (not measured), or a list' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l loads -d 'Folder with more definitions of loads' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l tune -d 'Change a setting for the time of the run: governor=NAME, irqs=away, rt-throttling=off, fair-server=off, thp=never|madvise|always, timer-migration=off, workqueues=away, irq-thread:PATTERN=PRIORITY' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l set -d 'Write a kernel file for the time of the run: /sys/FILE=VALUE, or NAME=VALUE as for sysctl' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l idle-states -d 'Allow only idle states with an exit latency up to this, or `system` for no limit' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l junit -d 'Write the result as JUnit XML as well, - for standard output instead of the text' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand run" -l ktap -d 'Write the result as KTAP as well; without a file to standard output instead of the text' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand run" -l lava -d 'Write the result as lines for LAVA as well; without a file to standard output instead of the text' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand run" -l scale -d 'Override the duration or the cycles of every scenario, for a try' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l repeats -d 'Number of runs of each row' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l seeds -d 'Measure each row once with each of these seeds, such as 1..5' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l targets -d 'Run the sheet on each board of a file, with a table `[NAME]` and target = "ssh://HOST" for each; cpus, deadline and load there are the board\'s own defaults' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand run" -l jobs -d 'Number of boards that are measured at once; of guests, no more than this machine has CPUs' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l resume -d 'Continue a campaign [default: the last one that is not complete]' -r
complete -c latlab -n "__fish_latlab_using_subcommand run" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand run" -l format -d 'How to print the result: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand run" -l realtime -d 'Run the guest in the host\'s time, with KVM if possible: noisy and not repeatable'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l console -d 'Print the console of the guest, or of all guests of a sheet'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l until-decided -d 'End the run as soon as it passes or fails --limit, after --for at the latest'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l samples -d 'Store every latency with its release, in about two bytes each'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l breakdown -d 'Break each latency down into parts with the kernel\'s tracepoints, and measure their cost'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l explain -d 'Record the kernel\'s events around each spike, and tell what delayed the thread'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l detach -d 'Measure on a board without the link to it: return once it measures; `latlab collect` brings it home'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l share -d 'Measure CPUs even if another latlab measures them'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l keep-going -d 'Continue when the terminal is closed (SIGHUP)'
complete -c latlab -n "__fish_latlab_using_subcommand run" -s q -l quiet -d 'Print no progress and no live table'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l dry-run -d 'Print what a sheet, or --resume, would run, in which order and for how long'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l skip-missing -d 'Leave out scenarios whose programs are missing'
complete -c latlab -n "__fish_latlab_using_subcommand run" -l print-unit -d 'Print a systemd unit that continues the campaign after each boot'
complete -c latlab -n "__fish_latlab_using_subcommand run" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand run" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l pid -d 'Measure the process with this number, or the process of this thread' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l comm -d 'Measure all processes that have this name, or a thread with this name; * stands for anything' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l output -d 'With PROGRAM: write what it prints to this file [default: discard it]' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l thread -d 'Judge the threads with this name; * stands for anything [default: those with a real-time policy, or all if there are none]' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l activation -d 'Name the system call that ends a cycle, such as epoll_wait or read:7; may be repeated [default: find out]' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l target -d 'Machine to measure: local, a board such as ssh://pi@board or its name, a place of labgrid such as labgrid:board-7 or labgrid:arch=arm64, or a guest in virtual time such as lab:x86-64/rt [default: local]' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l interval -d 'Length of the stored intervals' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -s D -l for -d 'Length of the run [default: until the program ends, or Ctrl-C]' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l deadline -d 'Longest time from the release to the end of a cycle, or wake-up:TIME from the release to its start [default: the period of each thread]' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l limit -d 'Allow up to RATE bursts of deadline misses (0.1/h, 1/d) before failing' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l spike-above -d 'With --explain: record the cycles whose judged time is above this [default: the tenth largest so far, later p99.99]' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l telemetry -d 'How often to read temperature, frequency, load and more: 100ms to 1h, or off. full (or full,5s): also files that take long to read, where every CPU is measured' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l name -d 'Name of the run, used in the name of its folder [default: that of the program]' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l note -d 'Note to store with the run' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l load -d 'Run this load during the measurement; may be repeated (`latlab loads` lists them)' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l load-on -d 'CPUs of the loads: everywhere, measured, others (not measured), or a list' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l loads -d 'Folder with more definitions of loads' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l tune -d 'Change a setting for the time of the run: governor=NAME, irqs=away, rt-throttling=off, fair-server=off, thp=never|madvise|always, timer-migration=off, workqueues=away, irq-thread:PATTERN=PRIORITY' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l set -d 'Write a kernel file for the time of the run: /sys/FILE=VALUE, or NAME=VALUE as for sysctl' -r
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l junit -d 'Write the result as JUnit XML as well, - for standard output instead of the text' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l ktap -d 'Write the result as KTAP as well; without a file to standard output instead of the text' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l lava -d 'Write the result as lines for LAVA as well; without a file to standard output instead of the text' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l format -d 'How to print the result: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l as-root -d 'With PROGRAM: start it as root also under sudo'
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l explain -d 'Record the kernel\'s events around each spike, and tell what delayed the thread'
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l list -d 'Show the threads, how they are released and how often, after 2 s or --for; store nothing'
complete -c latlab -n "__fish_latlab_using_subcommand attach" -l keep-going -d 'Continue when the terminal is closed (SIGHUP)'
complete -c latlab -n "__fish_latlab_using_subcommand attach" -s q -l quiet -d 'Print no progress and no live table'
complete -c latlab -n "__fish_latlab_using_subcommand attach" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand attach" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l from -d 'Captures: sigrok .sr, VCD, CSV (Saleae, Tektronix and others), ISF, lists of readings; each becomes a run' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l simulate -d 'Run the firmware in a simulator: uno:irq, uno:irq-notimer, uno:polling, or avr with a --firmware of your own; or a responder on Linux in a guest: linux:kmod, linux:kmod-plain, linux:kmod-threaded, linux:c-sysfs, linux:c-gpiochip, linux:c-poll, linux:python, linux:python-gpiod1, linux:rust; or published: five responders of a published experiment, idle and busy' -r -f -a "uno:irq\t''
uno:irq-notimer\t''
uno:polling\t''
avr\t''
linux:kmod\t''
linux:kmod-plain\t''
linux:kmod-threaded\t''
linux:c-sysfs\t''
linux:c-gpiochip\t''
linux:c-poll\t''
linux:python\t''
linux:python-gpiod1\t''
linux:rust\t''
published\t''"
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l scope -d 'Ask an oscilloscope for the delay of each response: TCPIP::HOST::PORT::SOCKET, USB::0xVENDOR::0xPRODUCT::SERIAL::INSTR or /dev/usbtmc0' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l logic -d 'Capture with a logic analyser: a driver of sigrok-cli, with options behind colons' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l gpio -d 'Make edges on this line of this board, and answer them as they come back over a wire to --loopback: gpiochip0:17' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l stimulus -d 'The channel with the stimuli [default with --scope: 1]; with --simulate and --gpio their times: square:10kHz or random:10ms..20ms [default there: random:1ms..2ms]' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l response -d 'The channel with the responses [default with --scope: 2]' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l width -d 'Measure the width of the pulses on this channel, from --edge to the opposite edge' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l marker -d 'Channel that is high while a possible disturbance lasts' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l threshold -d 'Level of an edge: a share of the way from low to high, or a voltage (1.65V)' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l response-threshold -d 'Level of an edge of the response [default: as --threshold]' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l hysteresis -d 'Hysteresis around the threshold: a share, a voltage, or auto, which follows the noise and is 10% at least' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l edge -d 'Which edges are stimuli: rising, falling, both' -r -f -a "rising\t''
falling\t''
both\t''"
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l response-edge -d 'Which edges are responses [default: as --edge]' -r -f -a "rising\t''
falling\t''
both\t''"
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l quiet -d 'Count edges that follow each other within this time as one stimulus [default: each edge]' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l window -d 'Time after which a response counts as late [default: the next stimulus]' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l unit -d 'Unit of a list of readings without one: s, ms, us, ns, ps' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l loopback -d 'The line that the wire from --gpio leads to' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l answer -d 'Raise this line as the answer [default: the answer lowers the line of --gpio]' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l count -d 'Number of readings of an oscilloscope, or of edges of a wire' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l timeout -d 'How long a reading of an oscilloscope may take, from waiting for the trigger to its value' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l generator -d 'Generator that makes each stimulus when it is sent *TRG' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l scope-commands -d 'File with the commands for an oscilloscope that latlab does not know' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l for -d 'Length of the capture of a logic analyser' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l samplerate -d 'Samples in a second of a logic analyser, such as 24m [default: as it is set]' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l edges -d 'Number of stimuli of a simulation' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l seed -d 'Seed of random stimuli; the same seed gives the same run' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l firmware -d 'Simulate this firmware instead, an ELF file or Intel HEX, with --simulate avr' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l mcu -d 'The microcontroller of the firmware, as avr-gcc calls it' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l clock -d 'Its clock' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l pins -d 'Its pins with the stimuli and with the responses; the default are pins 2 and 3 of an Uno' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l keep -d 'Keep the simulated capture in this folder, as VCD and CSV' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l page -d 'Write what was measured as one page, too' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l target -d 'Machine to measure: local, a board such as ssh://pi@board or its name, a place of labgrid such as labgrid:board-7 or labgrid:arch=arm64, or a guest in virtual time such as lab:x86-64/rt [default: local]' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l kernel -d 'Kernel image of your own, for a target without one such as lab:arm64' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l modules -d 'Folder with its modules; needed unless the virtio drivers are built in' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l dtb -d 'Device tree, for machines without one in QEMU' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l smp -d 'Number of CPUs of the guest, with --realtime' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l fault -d 'Inject a fault: irqs-off@5s:2ms, fifo-hog@2s:500ms:prio95, printk-storm, softirq-flood, clock-step, tiny-memory; with --realtime also cpu-offline@4s:1, hypervisor-pause@3s:20ms' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -s a -l cpus -d 'CPU of the thread that answers --gpio [default: the first that this process may use]' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l policy -d 'Scheduling policy of the responder: fifo, rr, other [default: fifo]' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -s p -l priority -d 'Priority of fifo and rr, 1 to 99 [default: 90]' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l load -d 'Run this load on the machine that answers; may be repeated (`latlab loads` lists them)' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l tune -d 'Change a setting of the machine that answers, as in `latlab run`' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l set -d 'Write a kernel file of the machine that answers, as in `latlab run`' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l deadline -d 'Judge each run: a latency above this is a deadline miss' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l name -d 'Name of the run [default: that of the file or simulation]' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l note -d 'Note to store with the run' -r
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l format -d 'How to print the result: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l join -d 'The files are the channels of one capture'
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l look -d 'Only print channels, rate, duration, edges and a picture of each capture'
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l external -d 'Another responder is between --gpio and --loopback, and answers'
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l lto -d 'Link the firmware with link-time optimisation, as the Arduino IDE does'
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l realtime -d 'Run the guest in the host\'s time, with KVM if possible: noisy and not repeatable'
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l console -d 'Print the console of the guest, or of all guests of a sheet'
complete -c latlab -n "__fish_latlab_using_subcommand respond" -l board-pins -d 'Answer on lines of the guest\'s own GPIO controller, not on a pin pair; of imx8mp-evk only'
complete -c latlab -n "__fish_latlab_using_subcommand respond" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand respond" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand plan" -l limit -d 'The rate to exclude: bursts of misses in a time, such as 0.1/h or 1/d' -r
complete -c latlab -n "__fish_latlab_using_subcommand plan" -l deadline -d 'The deadline, for the command that is printed' -r
complete -c latlab -n "__fish_latlab_using_subcommand plan" -l confidence -d 'How sure the answer must be' -r
complete -c latlab -n "__fish_latlab_using_subcommand plan" -l format -d 'How to print the result: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand plan" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand plan" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand import" -l as -d 'Format of the files [default: by their content]' -r -f -a "parquet\t''
json\t''
rteval\t''
hdr\t''
rtla-hist\t''
rtla-top\t''
oslat\t''
xenomai\t''
latmus\t''
rt-app\t''
stress-ng\t''
pairs\t''
hwlatdetect\t''
cyclictest\t''
jitterdebugger-csv\t''
jitterdebugger-raw\t''
csv\t''"
complete -c latlab -n "__fish_latlab_using_subcommand import" -l column -d 'Column with the latencies of a table: its name, or its number from 1' -r
complete -c latlab -n "__fish_latlab_using_subcommand import" -l unit -d 'Unit of the latencies, where the file does not say it: s, ms, us, ns' -r -f -a "s\t''
ms\t''
us\t''
ns\t''"
complete -c latlab -n "__fish_latlab_using_subcommand import" -l period -d 'The column has the times at which the cycles of a loop with this period began, and not latencies' -r
complete -c latlab -n "__fish_latlab_using_subcommand import" -l max-size -d 'Refuse what is larger: a size such as 500M or 4G' -r
complete -c latlab -n "__fish_latlab_using_subcommand import" -l deadline -d 'Judge each run: a latency above this is a deadline miss' -r
complete -c latlab -n "__fish_latlab_using_subcommand import" -l name -d 'Name of the run [default: that of the file or simulation]' -r
complete -c latlab -n "__fish_latlab_using_subcommand import" -l note -d 'Note to store with the run' -r
complete -c latlab -n "__fish_latlab_using_subcommand import" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand import" -l format -d 'How to print the result: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand import" -l look -d 'Only print what the files hold; store nothing'
complete -c latlab -n "__fish_latlab_using_subcommand import" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand import" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand export" -l to -d 'Format to write' -r -f -a "cyclictest\t''
cyclictest-json\t''
jitterdebugger\t''
osadl\t''
hdr\t''
csv\t''
parquet\t''
prometheus\t''
openmetrics\t''
openmetrics-native\t''
perfetto\t''
ktap\t''
junit\t''
lava\t''"
complete -c latlab -n "__fish_latlab_using_subcommand export" -s o -l output -d 'File to write, which must not exist yet [default: standard output]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand export" -l table -d 'What csv and parquet hold: samples, histogram [default: samples, where the run has them]' -r -f -a "samples\t''
histogram\t''"
complete -c latlab -n "__fish_latlab_using_subcommand export" -l bins -d 'Number of bins of cyclictest, jitterdebugger and osadl; longer latencies count as overflow [default: as many as the largest latency needs, at most 1000000]' -r
complete -c latlab -n "__fish_latlab_using_subcommand export" -l unit -d 'Length of these bins: us, ns [default: us, or that of the imported file]' -r -f -a "us\t''
ns\t''"
complete -c latlab -n "__fish_latlab_using_subcommand export" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand export" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand export" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l root -d 'Examine a folder that looks like /, or a snapshot file' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l target -d 'Examine a board, such as ssh://pi@board; with --restore restore that' -r
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l against -d 'Print what changed since a run, a snapshot file, or a folder that looks like /' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l save -d 'Write the kernel files to a snapshot file, - for standard output' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l fail-on -d 'Exit with 1 if a finding has at least this severity: info, warning, error' -r -f -a "info\t''
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
irqpoll\t''
noirqbalance-ignored\t''
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
graphics-power-saving\t''
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
interrupt-coalescing\t''
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
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l ignore -d 'Ignore findings with these codes' -r -f -a "not-realtime\t''
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
irqpoll\t''
noirqbalance-ignored\t''
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
graphics-power-saving\t''
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
interrupt-coalescing\t''
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
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -s v -l verbose -d 'Print all details of all findings'
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l list -d 'List all checks of the doctor'
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l restore -d 'Restore kernel files that a killed latlab left changed, and do nothing else'
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -l quarantine -d 'Move interrupted runs that can never be finished to the folder quarantine of the runs, and do nothing else'
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand doctor" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l pid -d 'Measure the process with this number, or the process of this thread' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l comm -d 'Measure all processes that have this name, or a thread with this name; * stands for anything' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l output -d 'With PROGRAM: write what it prints to this file [default: discard it]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l thread -d 'Judge the threads with this name; * stands for anything [default: those with a real-time policy, or all if there are none]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l activation -d 'Name the system call that ends a cycle, such as epoll_wait or read:7; may be repeated [default: find out]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l instrument -d 'Method of measuring: cyclic (a thread sleeps until its release), handoff (another thread wakes it), spin (gaps in a busy loop), timerlat (the kernel\'s tracer)' -r -f -a "cyclic\t''
handoff\t''
spin\t''
timerlat\t''
attach\t''
respond\t''
import\t''"
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l wake -d 'handoff: how threads are woken: futex, pipe, signal, eventfd, mq (POSIX queue), sysv (semaphore) [default: futex]' -r -f -a "futex\t''
pipe\t''
signal\t''
eventfd\t''
mq\t''
sysv\t''"
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l mechanism -d 'How threads sleep: nanosleep (until an absolute time), relative, timerfd, posix-timer [default: nanosleep]' -r -f -a "nanosleep\t''
relative\t''
timerfd\t''
posix-timer\t''"
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l timer-slack -d 'How late the kernel may end a sleep, to save wake-ups; for the policies other, batch and idle. A program that sets none has 50us [default: 1ns]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l clock -d 'Clock of the releases: monotonic, tai, realtime [default: monotonic]' -r -f -a "monotonic\t''
tai\t''
realtime\t''"
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l policy -d 'Scheduling policy: fifo, rr, other, batch, idle, deadline[:RUNTIME/DEADLINE/PERIOD] [default: fifo; other with spin]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -s p -l priority -d 'Priority of fifo and rr, 1 to 99 [default: 90]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l gap-above -d 'spin: record a gap if a pass is longer than the usual one by more than this [default: 1us]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l workload -d 'spin: work of each pass: none, memmove [default: none]' -r -f -a "none\t''
memmove\t''"
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l workload-size -d 'spin: memory of the workload, such as 64K [default: 4K]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -s a -l cpus -d 'CPUs to measure, such as 1-3 [default: all that this process may use]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l target -d 'Machine to measure: local, a board such as ssh://pi@board or its name, a place of labgrid such as labgrid:board-7 or labgrid:arch=arm64, or a guest in virtual time such as lab:x86-64/rt [default: local]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l kernel -d 'Kernel image of your own, for a target without one such as lab:arm64' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l modules -d 'Folder with its modules; needed unless the virtio drivers are built in' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l dtb -d 'Device tree, for machines without one in QEMU' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l smp -d 'Number of CPUs of the guest, with --realtime' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l fault -d 'Inject a fault: irqs-off@5s:2ms, fifo-hog@2s:500ms:prio95, printk-storm, softirq-flood, clock-step, tiny-memory; with --realtime also cpu-offline@4s:1, hypervisor-pause@3s:20ms' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -s t -l threads -d 'Number of measuring threads, assigned to the CPUs in turn [default: one per CPU]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l wakers-on -d 'handoff: CPUs of the waking threads, in turn [default: that of the woken thread]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l helpers-on -d 'CPUs of latlab\'s helper threads [default: those not measured]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -s i -l period -d 'Time between releases; a period that divides the kernel tick always meets the same phase [default: 997us]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l period-step -d 'Make the period of each further thread longer by this' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l phase -d 'Offsets of the threads\' releases: aligned, spread (evenly, from a random start), random [default: spread]' -r -f -a "aligned\t''
spread\t''
random\t''"
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l overruns -d 'Releases that are past when a cycle ends: skip, catch-up (serve them late); both count them [default: skip]' -r -f -a "skip\t''
catch-up\t''"
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l warm-up -d 'Time at the start that is measured and not counted' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l seed -d 'Seed of the random offsets [default: from the clock; stored in the run]. With the same seed a guest in virtual time gives the same run' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l interval -d 'Length of the stored intervals' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -s D -l for -d 'Length of the run [default: until Ctrl-C]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -s l -l cycles -d 'Number of cycles of each thread' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l deadline -d 'Judge the run: a latency above this is a deadline miss' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l limit -d 'Allow up to RATE bursts of deadline misses (0.1/h, 1/d) before failing' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -s b -l stop-above -d 'End the run at the first latency above this (exit code 1)' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l on-spike -d 'Run a command for a spike, at most once a second, with the spike as JSON on its input' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l spike-above -d 'Latency above which --on-spike runs [default: the deadline, else --stop-above] and --explain records [default: the tenth largest so far, later p99.99]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l telemetry -d 'How often to read temperature, frequency, load and more: 100ms to 1h, or off. full (or full,5s): also files that take long to read, where every CPU is measured' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l board-folder -d 'Folder there for the detached run [default: ~/.cache/latlab/runs, else memory]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l name -d 'Name of the run, used in the name of its folder' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l note -d 'Note to store with the run' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l load -d 'Run this load during the measurement; may be repeated (`latlab loads` lists them)' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l load-on -d 'CPUs of the loads: everywhere, measured, others (not measured), or a list' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l loads -d 'Folder with more definitions of loads' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l tune -d 'Change a setting for the time of the run: governor=NAME, irqs=away, rt-throttling=off, fair-server=off, thp=never|madvise|always, timer-migration=off, workqueues=away, irq-thread:PATTERN=PRIORITY' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l set -d 'Write a kernel file for the time of the run: /sys/FILE=VALUE, or NAME=VALUE as for sysctl' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l idle-states -d 'Allow only idle states with an exit latency up to this, or `system` for no limit' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l program -d 'Judge by the cycles of this program and its arguments, started for each run, instead of latlab\'s own threads' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l allow -d 'Try this setting although it gives up a protection; may be repeated' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l only -d 'Try only these settings' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l without -d 'Leave out these settings' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l settings -d 'Also try the settings of this file: a table `[NAME]` for each, with set = ["FILE=VALUE"]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l slot -d 'Length of each run' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l tolerance -d 'A smaller change makes no difference' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l resume -d 'Go on with a search that was cut short [default: the last one]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l apply -d 'Make the settings that help for good: show what is written, ask, and write it [default: of the last search]' -r
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l format -d 'How to print the result: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l as-root -d 'With PROGRAM: start it as root also under sudo'
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l realtime -d 'Run the guest in the host\'s time, with KVM if possible: noisy and not repeatable'
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l console -d 'Print the console of the guest, or of all guests of a sheet'
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l until-decided -d 'End the run as soon as it passes or fails --limit, after --for at the latest'
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l samples -d 'Store every latency with its release, in about two bytes each'
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l breakdown -d 'Break each latency down into parts with the kernel\'s tracepoints, and measure their cost'
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l explain -d 'Record the kernel\'s events around each spike, and tell what delayed the thread'
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l detach -d 'Measure on a board without the link to it: return once it measures; `latlab collect` brings it home'
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l share -d 'Measure CPUs even if another latlab measures them'
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l dry-run -d 'Show what would be changed, and for how long; measure nothing'
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l status -d 'Show what was made for good, and whether it holds'
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l undo -d 'Take back what was made for good'
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l yes -d 'With --apply: do not ask'
complete -c latlab -n "__fish_latlab_using_subcommand tune" -l keep-going -d 'Continue when the terminal is closed (SIGHUP)'
complete -c latlab -n "__fish_latlab_using_subcommand tune" -s q -l quiet -d 'Print no progress and no live table'
complete -c latlab -n "__fish_latlab_using_subcommand tune" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand tune" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and not __fish_seen_subcommand_from kernels list fetch stress-five threads paths" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and not __fish_seen_subcommand_from kernels list fetch stress-five threads paths" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and not __fish_seen_subcommand_from kernels list fetch stress-five threads paths" -f -a "kernels" -d 'List the kernels, and which are downloaded'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and not __fish_seen_subcommand_from kernels list fetch stress-five threads paths" -f -a "list" -d 'List the kernels, and which are downloaded'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and not __fish_seen_subcommand_from kernels list fetch stress-five threads paths" -f -a "fetch" -d 'Download kernels from Debian\'s archive, without installing them'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and not __fish_seen_subcommand_from kernels list fetch stress-five threads paths" -f -a "stress-five" -d 'Measure the five classic loads on stock and PREEMPT_RT in virtual time (the sheet lab-stress-five)'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and not __fish_seen_subcommand_from kernels list fetch stress-five threads paths" -f -a "threads" -d 'Measure one thread and 16 threads on one CPU, on stock and PREEMPT_RT, in virtual time (the sheet lab-threads)'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and not __fish_seen_subcommand_from kernels list fetch stress-five threads paths" -f -a "paths" -d 'Find where a kernel keeps interrupts or preemption off for longest: guests are run with a plugin of QEMU that records what they execute'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from kernels" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from kernels" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from fetch" -l qemu -d 'Also download the newer QEMU of Debian\'s backports, for targets such as lab:x86-64/rt,new-qemu'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from fetch" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from fetch" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from stress-five" -l seeds -d 'Seeds of the guests, such as 1..5: each is an independent repeat' -r
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from stress-five" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from stress-five" -l format -d 'How to print the result: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from stress-five" -s q -l quiet -d 'Print no progress'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from stress-five" -l console -d 'Print the consoles of the guests while they run'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from stress-five" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from stress-five" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from threads" -l seeds -d 'Seeds of the guests, such as 1..5: each is an independent repeat' -r
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from threads" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from threads" -l format -d 'How to print the result: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from threads" -s q -l quiet -d 'Print no progress'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from threads" -l console -d 'Print the consoles of the guests while they run'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from threads" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from threads" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from paths" -l seeds -d 'Seeds of the guests, such as 1..5: the more, the rarer the paths that are met' -r
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from paths" -l for -d 'Time of each guest' -r
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from paths" -l load -d 'Load that calls the kernel, as for latlab run' -r
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from paths" -l format -d 'How to print the result: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from paths" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand lab; and __fish_seen_subcommand_from paths" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand target; and not __fish_seen_subcommand_from add list remove status" -l format -d 'How to print: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand target; and not __fish_seen_subcommand_from add list remove status" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand target; and not __fish_seen_subcommand_from add list remove status" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand target; and not __fish_seen_subcommand_from add list remove status" -f -a "add" -d 'Give a board a name; replaces what the name stood for'
complete -c latlab -n "__fish_latlab_using_subcommand target; and not __fish_seen_subcommand_from add list remove status" -f -a "list" -d 'List the boards that have a name'
complete -c latlab -n "__fish_latlab_using_subcommand target; and not __fish_seen_subcommand_from add list remove status" -f -a "remove" -d 'Remove a name'
complete -c latlab -n "__fish_latlab_using_subcommand target; and not __fish_seen_subcommand_from add list remove status" -f -a "status" -d 'Ask a board for its machine, your rights, and its current runs'
complete -c latlab -n "__fish_latlab_using_subcommand target; and __fish_seen_subcommand_from add" -s a -l cpus -d 'CPUs to measure there, unless a run says otherwise' -r
complete -c latlab -n "__fish_latlab_using_subcommand target; and __fish_seen_subcommand_from add" -l deadline -d 'Deadline of runs there, unless a run says otherwise' -r
complete -c latlab -n "__fish_latlab_using_subcommand target; and __fish_seen_subcommand_from add" -l load -d 'Load of runs there, unless a run says otherwise; may be given several times' -r
complete -c latlab -n "__fish_latlab_using_subcommand target; and __fish_seen_subcommand_from add" -l board-folder -d 'Folder there for detached runs, unless a run says otherwise' -r
complete -c latlab -n "__fish_latlab_using_subcommand target; and __fish_seen_subcommand_from add" -l format -d 'How to print: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand target; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand target; and __fish_seen_subcommand_from add" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand target; and __fish_seen_subcommand_from list" -l format -d 'How to print: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand target; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand target; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand target; and __fish_seen_subcommand_from remove" -l format -d 'How to print: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand target; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand target; and __fish_seen_subcommand_from remove" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand target; and __fish_seen_subcommand_from status" -l board-folder -d 'Look into this folder there for detached runs as well' -r
complete -c latlab -n "__fish_latlab_using_subcommand target; and __fish_seen_subcommand_from status" -l format -d 'How to print: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand target; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand target; and __fish_seen_subcommand_from status" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand collect" -l board-folder -d 'Also look in this folder of the board: the --board-folder of `latlab run --detach`' -r
complete -c latlab -n "__fish_latlab_using_subcommand collect" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand collect" -l format -d 'How to print the result: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand collect" -l stop -d 'Stop the run that still measures there first, and collect it as well'
complete -c latlab -n "__fish_latlab_using_subcommand collect" -s q -l quiet -d 'Print no progress'
complete -c latlab -n "__fish_latlab_using_subcommand collect" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand collect" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand loads; and not __fish_seen_subcommand_from show" -l loads -d 'Folder with more definitions, searched first' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand loads; and not __fish_seen_subcommand_from show" -l target -d 'Say what is installed on a board, such as ssh://pi@board' -r
complete -c latlab -n "__fish_latlab_using_subcommand loads; and not __fish_seen_subcommand_from show" -l format -d 'How to print: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand loads; and not __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand loads; and not __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand loads; and not __fish_seen_subcommand_from show" -f -a "show" -d 'Print the definition of a load'
complete -c latlab -n "__fish_latlab_using_subcommand loads; and __fish_seen_subcommand_from show" -l loads -d 'Folder with more definitions, searched first' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand loads; and __fish_seen_subcommand_from show" -l target -d 'Say what is installed on a board, such as ssh://pi@board' -r
complete -c latlab -n "__fish_latlab_using_subcommand loads; and __fish_seen_subcommand_from show" -l format -d 'How to print: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand loads; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand loads; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand scenarios; and not __fish_seen_subcommand_from show" -l format -d 'How to print: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand scenarios; and not __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand scenarios; and not __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand scenarios; and not __fish_seen_subcommand_from show" -f -a "show" -d 'Print a ready-made sheet'
complete -c latlab -n "__fish_latlab_using_subcommand scenarios; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand scenarios; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand list" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand list" -l format -d 'How to print the list: text, json, markdown' -r -f -a "text\t''
json\t''
markdown\t''"
complete -c latlab -n "__fish_latlab_using_subcommand list" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand list" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand show" -l baseline -d 'Compare with this run instead of the first one' -r
complete -c latlab -n "__fish_latlab_using_subcommand show" -l limit -d 'Allow up to RATE bursts of deadline misses (0.1/h, 1/d) before failing' -r
complete -c latlab -n "__fish_latlab_using_subcommand show" -l window -d 'Show only this part of a run with samples: times in UTC, or since the first release (+10s)' -r
complete -c latlab -n "__fish_latlab_using_subcommand show" -l format -d 'How to print the result: text, json, markdown, html (the top of the page, for a notebook); with --window text, json, markdown, csv (every sample)' -r -f -a "text\t''
json\t''
markdown\t''
html\t''
csv\t''"
complete -c latlab -n "__fish_latlab_using_subcommand show" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand show" -s v -l all -d 'Show everything: each thread, conditions, findings, diagnoses, cost, the command'
complete -c latlab -n "__fish_latlab_using_subcommand show" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand show" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand explain" -l spike -d 'Show the spike of this number; with --replay, the latency of this rank, 1 being the largest' -r
complete -c latlab -n "__fish_latlab_using_subcommand explain" -l top -d 'Number of spikes to show, the largest first' -r
complete -c latlab -n "__fish_latlab_using_subcommand explain" -l format -d 'Output: text, json, perfetto' -r -f -a "text\t''
json\t''
perfetto\t''"
complete -c latlab -n "__fish_latlab_using_subcommand explain" -s o -l output -d 'Write to this file instead of standard output' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand explain" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand explain" -l replay -d 'Run the guest of a run in virtual time again, and tell from its instructions, to the nanosecond'
complete -c latlab -n "__fish_latlab_using_subcommand explain" -l all -d 'With --replay: also count the parts of all wake-ups'
complete -c latlab -n "__fish_latlab_using_subcommand explain" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand explain" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand report" -l baseline -d 'Compare with this run instead of the first one' -r
complete -c latlab -n "__fish_latlab_using_subcommand report" -l limit -d 'Allow up to RATE bursts of deadline misses (0.1/h, 1/d) before failing' -r
complete -c latlab -n "__fish_latlab_using_subcommand report" -s o -l output -d 'The page to write, - for standard output; of a campaign also a folder, written with a slash at its end: its page and one of each run [default: report.html in the run\'s folder, comparison.html in the first one\'s where several are compared]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand report" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand report" -l format -d 'How to print the result: text, json; the table of a campaign also: markdown, csv, junit' -r -f -a "text\t''
json\t''
markdown\t''
csv\t''
junit\t''"
complete -c latlab -n "__fish_latlab_using_subcommand report" -l open -d 'Open the page in $BROWSER, else with xdg-open'
complete -c latlab -n "__fish_latlab_using_subcommand report" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand report" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand compare" -l margin -d 'Largest slowdown that is not a regression; twice as much for p99.99 and the median maximum' -r
complete -c latlab -n "__fish_latlab_using_subcommand compare" -l limit -d 'Bursts of deadline misses that the candidate may have, such as 0.1/h' -r
complete -c latlab -n "__fish_latlab_using_subcommand compare" -l format -d 'How to print the result: text, json, markdown, junit, html' -r -f -a "text\t''
json\t''
markdown\t''
junit\t''
html\t''"
complete -c latlab -n "__fish_latlab_using_subcommand compare" -s o -l output -d 'The file to write, - for standard output [default: standard output]; a page if its name ends in .html' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand compare" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand compare" -l junit -d 'Write the result as JUnit XML as well, - for standard output instead of the text' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand compare" -l ktap -d 'Write the result as KTAP as well; without a file to standard output instead of the text' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand compare" -l lava -d 'Write the result as lines for LAVA as well; without a file to standard output instead of the text' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand compare" -l gate -d 'End with the exit code of the answer'
complete -c latlab -n "__fish_latlab_using_subcommand compare" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand compare" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand trend" -l since -d 'Only runs that started at this time (UTC) or later, such as 2026-11-01' -r
complete -c latlab -n "__fish_latlab_using_subcommand trend" -l board -d 'Only runs of boards or hosts whose name contains this' -r
complete -c latlab -n "__fish_latlab_using_subcommand trend" -l by -d 'What one build is: the runs of a kernel, of a name, or each run [default: the first of these in which the runs differ]' -r -f -a "kernel\t'All runs of a kernel: its release and the date of its build'
name\t'All runs of a name'
run\t'Each run'"
complete -c latlab -n "__fish_latlab_using_subcommand trend" -l metric -d 'The figure that is followed: p50, p99, p99.9, p99.99, \'median maximum\'' -r -f -a "p50\t''
p99\t''
p99.9\t''
p99.99\t''
median maximum\t''"
complete -c latlab -n "__fish_latlab_using_subcommand trend" -l margin -d 'By how much a level may be higher than the one before' -r
complete -c latlab -n "__fish_latlab_using_subcommand trend" -l format -d 'How to print the result: text, json, markdown, junit, html' -r -f -a "text\t''
json\t''
markdown\t''
junit\t''
html\t''"
complete -c latlab -n "__fish_latlab_using_subcommand trend" -s o -l output -d 'The file to write, - for standard output [default: standard output]; a page if its name ends in .html' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand trend" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand trend" -l junit -d 'Write the result as JUnit XML as well, - for standard output instead of the text' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand trend" -l ktap -d 'Write the result as KTAP as well; without a file to standard output instead of the text' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand trend" -l lava -d 'Write the result as lines for LAVA as well; without a file to standard output instead of the text' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand trend" -l gate -d 'End with the exit code of the answer'
complete -c latlab -n "__fish_latlab_using_subcommand trend" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand trend" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and not __fish_seen_subcommand_from add query compact vacuum rebuild verify" -l table -d 'Folder of the tables [default: $LATLAB_FLEET, else ./fleet]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and not __fish_seen_subcommand_from add query compact vacuum rebuild verify" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and not __fish_seen_subcommand_from add query compact vacuum rebuild verify" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and not __fish_seen_subcommand_from add query compact vacuum rebuild verify" -f -a "add" -d 'Add runs to the tables, each once'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and not __fish_seen_subcommand_from add query compact vacuum rebuild verify" -f -a "query" -d 'Query the tables: board-tail, worst, trend, matrix, changed, coverage, or SQL of your own'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and not __fish_seen_subcommand_from add query compact vacuum rebuild verify" -f -a "compact" -d 'Merge many small files of the tables into few large ones'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and not __fish_seen_subcommand_from add query compact vacuum rebuild verify" -f -a "vacuum" -d 'Delete files that the tables no longer need'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and not __fish_seen_subcommand_from add query compact vacuum rebuild verify" -f -a "rebuild" -d 'Rebuild the tables from the run folders'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and not __fish_seen_subcommand_from add query compact vacuum rebuild verify" -f -a "verify" -d 'Compare the tables with the seals of the run folders'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from add" -l board -d 'Name of the board [default: the host\'s name of each run]' -r
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from add" -l tag -d 'A word to find the runs by; may be given several times' -r
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from add" -l every -d 'With --watch, time between two checks of the folders' -r
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from add" -l table -d 'Folder of the tables [default: $LATLAB_FLEET, else ./fleet]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from add" -l watch -d 'Keep running, and add new runs as they appear'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from add" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from query" -l sql -d 'A file with SQL of your own' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from query" -l engine -d 'What answers: duckdb (this machine), spark (a cluster)' -r -f -a "duckdb\t'DuckDB, in the process of the package'
spark\t'Apache Spark'"
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from query" -l master -d 'Cluster of Spark, such as spark://host:7077 [default: $LATLAB_SPARK, else this machine]' -r
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from query" -l board -d 'Only runs of this board; may be given several times' -r
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from query" -l scenario -d 'Only runs of this scenario: a row of a sheet, or the name of a run; may be given several times' -r
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from query" -l since -d 'Only runs that started at this time (UTC) or later, such as 2026-11-01' -r
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from query" -l until -d 'Only runs that started before this time (UTC)' -r
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from query" -l format -d 'How to print the answer: text, json, csv, svg, html [default: by the end of the file\'s name, else text]' -r -f -a "text\t''
json\t''
csv\t''
svg\t''
html\t''"
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from query" -s o -l output -d 'The file to write, - for standard output [default: standard output]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from query" -l table -d 'Folder of the tables [default: $LATLAB_FLEET, else ./fleet]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from query" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from query" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from compact" -l table -d 'Folder of the tables [default: $LATLAB_FLEET, else ./fleet]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from compact" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from compact" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from vacuum" -l keep -d 'Keep files that versions of the tables up to this age need' -r
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from vacuum" -l table -d 'Folder of the tables [default: $LATLAB_FLEET, else ./fleet]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from vacuum" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from vacuum" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from rebuild" -l table -d 'Folder of the tables [default: $LATLAB_FLEET, else ./fleet]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from rebuild" -l without-missing -d 'Leave out runs whose folders no longer exist'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from rebuild" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from rebuild" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from verify" -l table -d 'Folder of the tables [default: $LATLAB_FLEET, else ./fleet]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand fleet; and __fish_seen_subcommand_from verify" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand plot" -s k -l kind -d 'What to draw: latency, tail, cdf, ccdf, cpus, overlay, boxes; over time: flow, heatmap, telemetry; phase' -r -f -a "latency\t''
tail\t''
cdf\t''
ccdf\t''
cpus\t''
overlay\t''
boxes\t''
flow\t''
heatmap\t''
telemetry\t''
phase\t''"
complete -c latlab -n "__fish_latlab_using_subcommand plot" -s o -l output -d 'The picture to write, - for standard output [default: KIND.svg in the first run\'s folder]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l format -d 'Format of the picture: svg, png [default: by the end of the file\'s name, else svg]' -r -f -a "svg\t''
png\t''"
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l range -d 'Draw only latencies in this range; the picture counts the others' -r
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l window -d 'Only this part of the run, over time: UTC, or since the first release (+10s)' -r
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l fold -d 'With --kind phase, the period to fold with [default: that of the run\'s marker]' -r
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l width -d 'Width of the picture in pixels, 280 to 10000' -r
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l scale -d 'Pixels of a PNG for each pixel of the width' -r
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l linear -d 'A linear axis of latencies [default: depends on the runs]'
complete -c latlab -n "__fish_latlab_using_subcommand plot" -l log -d 'A logarithmic axis of latencies'
complete -c latlab -n "__fish_latlab_using_subcommand plot" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand plot" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand serve" -l out -d 'Folder of the runs; the same as DIR' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand serve" -l port -d 'Port to listen on, 0 for any free one [default: 8137, else any free one]' -r
complete -c latlab -n "__fish_latlab_using_subcommand serve" -l listen -d 'Address to listen on; other than loopback it requires a token [default: 127.0.0.1]' -r
complete -c latlab -n "__fish_latlab_using_subcommand serve" -l token -d 'Secret that clients must send; other users see it in the list of processes' -r
complete -c latlab -n "__fish_latlab_using_subcommand serve" -l token-file -d 'File with the secret: one line, at most 4 KiB' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand serve" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand serve" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand verify" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand verify" -l format -d 'How to print the result: text, json' -r -f -a "text\t''
json\t''"
complete -c latlab -n "__fish_latlab_using_subcommand verify" -l all -d 'Check every stored run, including those of campaigns'
complete -c latlab -n "__fish_latlab_using_subcommand verify" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand verify" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand cyclictest" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand completions" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand completions" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand agent" -l write -d 'Write the agent for this machine type (`uname -m`): aarch64, armv7l, x86_64' -r
complete -c latlab -n "__fish_latlab_using_subcommand agent" -s o -l output -d 'The program to write, - for standard output [default: latlab-agent-MACHINE]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand agent" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand agent" -s V -l version -d 'Print version'
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l every -d 'Time between the starts of two rounds' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l cpu-budget -d 'Share of a CPU that all rounds may take together; where they would take more, the next one comes later' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l keep -d 'Room on the disk that the runs of this name may take; the oldest go first' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l on-fail -d 'Run a command when a round fails or nothing can be measured, with the round as JSON on its input' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l rounds -d 'End after N rounds [default: never]' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l out -d 'Folder of the runs [default: $LATLAB_RUNS, else ./runs]' -r -F
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l instrument -d 'Method of measuring: cyclic (a thread sleeps until its release), handoff (another thread wakes it), spin (gaps in a busy loop), timerlat (the kernel\'s tracer)' -r -f -a "cyclic\t''
handoff\t''
spin\t''
timerlat\t''
attach\t''
respond\t''
import\t''"
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l wake -d 'handoff: how threads are woken: futex, pipe, signal, eventfd, mq (POSIX queue), sysv (semaphore) [default: futex]' -r -f -a "futex\t''
pipe\t''
signal\t''
eventfd\t''
mq\t''
sysv\t''"
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l mechanism -d 'How threads sleep: nanosleep (until an absolute time), relative, timerfd, posix-timer [default: nanosleep]' -r -f -a "nanosleep\t''
relative\t''
timerfd\t''
posix-timer\t''"
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l timer-slack -d 'How late the kernel may end a sleep, to save wake-ups; for the policies other, batch and idle. A program that sets none has 50us [default: 1ns]' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l clock -d 'Clock of the releases: monotonic, tai, realtime [default: monotonic]' -r -f -a "monotonic\t''
tai\t''
realtime\t''"
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l policy -d 'Scheduling policy: fifo, rr, other, batch, idle, deadline[:RUNTIME/DEADLINE/PERIOD] [default: fifo; other with spin]' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -s p -l priority -d 'Priority of fifo and rr, 1 to 99 [default: 90]' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l gap-above -d 'spin: record a gap if a pass is longer than the usual one by more than this [default: 1us]' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l workload -d 'spin: work of each pass: none, memmove [default: none]' -r -f -a "none\t''
memmove\t''"
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l workload-size -d 'spin: memory of the workload, such as 64K [default: 4K]' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -s a -l cpus -d 'CPUs to measure, such as 1-3 [default: all that this process may use]' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l target -d 'Machine to measure: local, a board such as ssh://pi@board or its name, a place of labgrid such as labgrid:board-7 or labgrid:arch=arm64, or a guest in virtual time such as lab:x86-64/rt [default: local]' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l kernel -d 'Kernel image of your own, for a target without one such as lab:arm64' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l modules -d 'Folder with its modules; needed unless the virtio drivers are built in' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l dtb -d 'Device tree, for machines without one in QEMU' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l smp -d 'Number of CPUs of the guest, with --realtime' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l fault -d 'Inject a fault: irqs-off@5s:2ms, fifo-hog@2s:500ms:prio95, printk-storm, softirq-flood, clock-step, tiny-memory; with --realtime also cpu-offline@4s:1, hypervisor-pause@3s:20ms' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -s t -l threads -d 'Number of measuring threads, assigned to the CPUs in turn [default: one per CPU]' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l wakers-on -d 'handoff: CPUs of the waking threads, in turn [default: that of the woken thread]' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l helpers-on -d 'CPUs of latlab\'s helper threads [default: those not measured]' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l period-step -d 'Make the period of each further thread longer by this' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l phase -d 'Offsets of the threads\' releases: aligned, spread (evenly, from a random start), random [default: spread]' -r -f -a "aligned\t''
spread\t''
random\t''"
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l overruns -d 'Releases that are past when a cycle ends: skip, catch-up (serve them late); both count them [default: skip]' -r -f -a "skip\t''
catch-up\t''"
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l warm-up -d 'Time at the start that is measured and not counted' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l seed -d 'Seed of the random offsets [default: from the clock; stored in the run]. With the same seed a guest in virtual time gives the same run' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l interval -d 'Length of the stored intervals' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -s l -l cycles -d 'Number of cycles of each thread' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l deadline -d 'Judge the run: a latency above this is a deadline miss' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l limit -d 'Allow up to RATE bursts of deadline misses (0.1/h, 1/d) before failing' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -s b -l stop-above -d 'End the run at the first latency above this (exit code 1)' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l on-spike -d 'Run a command for a spike, at most once a second, with the spike as JSON on its input' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l spike-above -d 'Latency above which --on-spike runs [default: the deadline, else --stop-above] and --explain records [default: the tenth largest so far, later p99.99]' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l note -d 'Note to store with the run' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l load -d 'Run this load during the measurement; may be repeated (`latlab loads` lists them)' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l load-on -d 'CPUs of the loads: everywhere, measured, others (not measured), or a list' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l loads -d 'Folder with more definitions of loads' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l tune -d 'Change a setting for the time of the run: governor=NAME, irqs=away, rt-throttling=off, fair-server=off, thp=never|madvise|always, timer-migration=off, workqueues=away, irq-thread:PATTERN=PRIORITY' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l set -d 'Write a kernel file for the time of the run: /sys/FILE=VALUE, or NAME=VALUE as for sysctl' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l board-folder -d 'Folder there for the detached run [default: ~/.cache/latlab/runs, else memory]' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l name -d 'Name of the run, used in the name of its folder' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -s D -l for -d 'Length of the run' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -s i -l period -d 'Time between releases; a period that divides the kernel tick always meets the same phase' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l telemetry -d 'How often to read temperature, frequency, load and more: 100ms to 1h, or off. full (or full,5s): also files that take long to read, where every CPU is measured' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l idle-states -d 'Allow only idle states with an exit latency up to this, or `system` for no limit' -r
complete -c latlab -n "__fish_latlab_using_subcommand watch" -s q -l quiet -d 'Print only what fails and what is removed'
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l realtime -d 'Run the guest in the host\'s time, with KVM if possible: noisy and not repeatable'
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l console -d 'Print the console of the guest, or of all guests of a sheet'
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l until-decided -d 'End the run as soon as it passes or fails --limit, after --for at the latest'
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l samples -d 'Store every latency with its release, in about two bytes each'
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l breakdown -d 'Break each latency down into parts with the kernel\'s tracepoints, and measure their cost'
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l explain -d 'Record the kernel\'s events around each spike, and tell what delayed the thread'
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l share -d 'Measure CPUs even if another latlab measures them'
complete -c latlab -n "__fish_latlab_using_subcommand watch" -l detach -d 'Measure on a board without the link to it: return once it measures; `latlab collect` brings it home'
complete -c latlab -n "__fish_latlab_using_subcommand watch" -s h -l help -d 'Print help'
complete -c latlab -n "__fish_latlab_using_subcommand watch" -s V -l version -d 'Print version'
