/*
 * Occupies a CPU by something that a program can do, repeatedly until it is killed: a culprit that
 * `latlab explain` must find.
 *
 * usage: culprit WHAT CPU LENGTH_US EVERY_MS [PID]
 *        culprit priority PRIORITY PID
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void must(int is_well, const char *what)
{
	if (is_well)
		return;
	fprintf(stderr, "culprit: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void realtime_of(pid_t thread, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	must(sched_setscheduler(thread, SCHED_FIFO, &param) == 0, "FIFO");
}

static void realtime(int priority)
{
	realtime_of(0, priority);
}

/* Not pinned: the kernel admits such threads on all CPUs together. */
static void deadline(long long length)
{
	struct {
		unsigned int size, policy;
		unsigned long long flags;
		int nice;
		unsigned int priority;
		unsigned long long runtime, deadline, period;
	} attributes = { .size = sizeof(attributes), .policy = SCHED_DEADLINE };

	attributes.runtime = length + 1000000;
	attributes.deadline = attributes.period = 4 * attributes.runtime;
	must(syscall(SYS_sched_setattr, 0, &attributes, 0) == 0, "DEADLINE");
}

static void run_until(long long end)
{
	while (now() < end)
		;
}

static void fault_until(long long end)
{
	const size_t length = 64 << 12;

	while (now() < end) {
		char *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		must(memory != MAP_FAILED, "mmap");
		for (size_t at = 0; at < length && now() < end; at += 4096)
			memory[at] = 1;
		munmap(memory, length);
	}
}

/* The softirq delivers each packet to many sockets, which are never read. */
static void flood_until(long long end)
{
	static int sender = -1;
	char packet[100] = "";
	const int on = 1;
	struct sockaddr_in all = { .sin_family = AF_INET, .sin_port = htons(9977) }, to = all;

	if (sender < 0) {
		sender = socket(AF_INET, SOCK_DGRAM, 0);
		for (int count = 0; count < 900; count++) {
			int receiver = socket(AF_INET, SOCK_DGRAM, 0);

			setsockopt(receiver, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
			must(bind(receiver, (void *)&all, sizeof(all)) == 0, "bind");
		}
		setsockopt(sender, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on));
		to.sin_addr.s_addr = htonl(0x7fffffff);
		must(connect(sender, (void *)&to, sizeof(to)) == 0, "connect");
	}
	while (now() < end)
		send(sender, packet, sizeof(packet), 0);
}

static void print_until(long long end)
{
	/* Opened once: that takes longer than a line, the more so the more was printed, and must not be planted. */
	static int kernel = -1;
	char line[900];

	if (kernel < 0) {
		int limit = open("/proc/sys/kernel/printk_devkmsg", O_WRONLY);

		if (limit >= 0 && write(limit, "on\n", 3) < 0)
			perror("culprit: printk_devkmsg");
		close(limit);
		kernel = open("/dev/kmsg", O_WRONLY);
	}
	must(kernel >= 0, "/dev/kmsg");
	for (int number = 1; now() < end; number++) {
		int length = snprintf(line, sizeof(line), "<3>culprit: line %d of a storm%840s\n", number, ".");

		must(write(kernel, line, length) == length, "write a line");
	}
}

static void barrier_until(long long end)
{
	while (now() < end)
		must(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0, "membarrier");
}

/* Enough timers for a length, which all expire at the same time: each sets a file, or sends a signal. */
static void timers_at(long long at, int signals, long long length)
{
	static int files[900];
	static timer_t timers[900];
	static int count;
	const struct itimerspec when = { .it_value = { at / 1000000000, at % 1000000000 } };
	int wanted = length > 1000000 ? 900 : 300;

	if (!count) {
		struct rlimit many = { 2000, 2000 };
		struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };

		setrlimit(RLIMIT_NOFILE, &many);
		setrlimit(RLIMIT_SIGPENDING, &many);
		signal(SIGUSR1, SIG_IGN);
		for (; count < wanted; count++)
			if (signals)
				must(timer_create(CLOCK_MONOTONIC, &event, &timers[count]) == 0, "timer");
			else
				must((files[count] = timerfd_create(CLOCK_MONOTONIC, 0)) >= 0, "timerfd");
	}
	for (int one = 0; one < count; one++)
		if (signals)
			timer_settime(timers[one], TIMER_ABSTIME, &when, NULL);
		else
			timerfd_settime(files[one], TFD_TIMER_ABSTIME, &when, NULL);
}

static void start_until(long long end, const char *program)
{
	while (now() < end) {
		pid_t child = vfork();

		if (!child) {
			if (program)
				execl(program, "true", NULL);
			_exit(0);
		}
		must(child > 0 && waitpid(child, NULL, 0) == child, "start a program");
	}
}

static void take_signal(int number)
{
	(void)number;
}

/* Sent to another process, which handles them when it gets the CPU. */
static void signal_until(long long end)
{
	static pid_t other;

	if (!other) {
		signal(SIGUSR1, take_signal);
		other = fork();
		must(other >= 0, "fork");
		if (!other) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
	while (now() < end)
		must(kill(other, SIGUSR1) == 0, "send a signal");
}

/* Each withdraws an access right, which flushes the other CPU's TLB. */
static void protect_until(long long end)
{
	static char *memory;

	if (!memory)
		memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(memory != MAP_FAILED, "mmap");
	while (now() < end) {
		mprotect(memory, 4096, PROT_READ | PROT_WRITE);
		*memory = 1;
		must(mprotect(memory, 4096, PROT_READ) == 0, "mprotect");
	}
}

static void *stay_on(void *cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((long)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (;;)
		;
	return NULL;
}

static void write_file(const char *path, const char *text)
{
	int file = open(path, O_WRONLY);

	must(file >= 0 && write(file, text, strlen(text)) >= 0, path);
	close(file);
}

int main(int count, char **arguments)
{
	if (count == 4 && !strcmp(arguments[1], "priority")) {
		realtime_of(atoi(arguments[3]), atoi(arguments[2]));
		return 0;
	}
	if (count < 5) {
		fprintf(stderr, "usage: culprit WHAT CPU LENGTH_US EVERY_MS [PID]\n");
		return 2;
	}
	const char *what = arguments[1];
	long cpu = atol(arguments[2]), length = atol(arguments[3]) * 1000, every = atol(arguments[4]) * 1000000;
	struct timespec pause = { every / 1000000000, every % 1000000000 };
	int is_on = 0;
	cpu_set_t set;

	prctl(PR_SET_NAME, "culprit");
	if (strcmp(what, "deadline") && strcmp(what, "hotplug")) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		must(sched_setaffinity(0, sizeof(set), &set) == 0, "affinity");
	}
	if (!strcmp(what, "fifo") || !strcmp(what, "faults") || !strcmp(what, "start") ||
	    !strcmp(what, "signals") || !strcmp(what, "move"))
		realtime(95);
	else if (!strcmp(what, "same"))
		realtime(90);
	else if (!strcmp(what, "deadline"))
		deadline(length);
	else if (!strcmp(what, "membarrier")) {
		pthread_t other;

		must(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0, "register");
		must(pthread_create(&other, NULL, stay_on, (void *)(long)!cpu) == 0, "thread");
	} else if (!strcmp(what, "protect")) {
		pthread_t other;

		must(pthread_create(&other, NULL, stay_on, (void *)(long)!cpu) == 0, "thread");
	} else {
		realtime(2);
	}
	for (;;) {
		long long end;

		nanosleep(&pause, NULL);
		end = now() + length;
		if (!strcmp(what, "flood") || !strcmp(what, "printk")) {
			struct sched_param ordinary = { 0 };

			sched_setscheduler(0, SCHED_OTHER, &ordinary);
		}
		if (!strcmp(what, "fifo") || !strcmp(what, "same") || !strcmp(what, "deadline"))
			run_until(end);
		else if (!strcmp(what, "faults"))
			fault_until(end);
		else if (!strcmp(what, "flood"))
			flood_until(end);
		else if (!strcmp(what, "printk"))
			print_until(end);
		else if (!strcmp(what, "membarrier"))
			barrier_until(end);
		else if (!strcmp(what, "protect"))
			protect_until(end);
		else if (!strcmp(what, "start"))
			start_until(end, "/bin/busybox");
		else if (!strcmp(what, "signals"))
			signal_until(end);
		else if (!strcmp(what, "timerfds") || !strcmp(what, "posix-timers"))
			timers_at(end + 5000000, *what == 'p', length);
		else if (!strcmp(what, "move")) {
			const cpu_set_t home = set;

			CPU_ZERO(&set);
			CPU_SET(!cpu, &set);
			/* Ran elsewhere, now moves here. */
			sched_setaffinity(0, sizeof(set), &set);
			end = now() + length;
			run_until(end);
			sched_setaffinity(0, sizeof(home), &home);
			run_until(end + length);
			set = home;
		} else if (!strcmp(what, "stop")) {
			struct timespec rest = { 0, length };

			/* The process must run once to stop. */
			kill(atoi(arguments[5]), SIGSTOP);
			nanosleep(&rest, NULL);
			kill(atoi(arguments[5]), SIGCONT);
		} else if (!strcmp(what, "tasks"))
			write_file("/proc/sysrq-trigger", "t");
		else if (!strcmp(what, "hotplug")) {
			char path[80];

			snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%ld/online", cpu);
			write_file(path, is_on ? "1" : "0");
			is_on = !is_on;
		} else {
			fprintf(stderr, "culprit: unknown: %s\n", what);
			return 2;
		}
		if (!strcmp(what, "flood") || !strcmp(what, "printk"))
			realtime(2);
	}
}
