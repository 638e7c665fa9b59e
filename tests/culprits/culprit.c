/*
 * Holds a CPU by something that a program can do, again and again until it is killed: a culprit to be
 * found by whoever explains latencies.
 *
 * usage: culprit WHAT CPU LENGTH_US EVERY_MS [PID]
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
#include <sys/syscall.h>
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

static void realtime(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	must(sched_setscheduler(0, SCHED_FIFO, &param) == 0, "FIFO");
}

/* The kernel divides the time of all such threads, so that one that is pinned is refused. */
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

/* Each packet goes to many sockets, which the softirq does; nobody reads them. */
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
	/* Opening it takes longer than a line does, the longer the more was printed before, and is not to be planted. */
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
	if (!strcmp(what, "fifo") || !strcmp(what, "faults"))
		realtime(95);
	else if (!strcmp(what, "same"))
		realtime(90);
	else if (!strcmp(what, "deadline"))
		deadline(length);
	else if (!strcmp(what, "membarrier")) {
		pthread_t other;

		must(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0, "register");
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
		else if (!strcmp(what, "stop")) {
			struct timespec rest = { 0, length };

			/* It must run once to stop. */
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
