/* Loops that wait in one way each and keep a log: when each cycle was due, started and ended,
 * and how many faults were planted, in which line. It knows nothing of latlab; its log is the truth.
 *
 *   loops KIND PERIOD_US CYCLES WORK_US LOG [SEED FAULT...]
 *
 * With a seed each FAULT is planted in a number of cycles that only the log knows. hold, hog and stop
 * keep a cycle for 3 ms: an ordinary thread holds its lock, an urgent thread takes its CPU, a process
 * stops it. Their names are those of the variables HOLDER and HOG. tick reaches the time limit of a socket, throttle
 * uses up the runtime of the kind deadline, share lets the urgent thread run for 200 us, and in low an interrupt
 * thread of lower priority releases the loop, which has the kind pipe. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define FAULTS 15
#define DELAYS 8
static const char *fault_names[FAULTS] = {"page-fault", "heap",  "write",     "sync", "sleep", "open",
                                          "yield",      "inversion", "hold", "hog",  "stop",
                                          "tick",       "throttle",  "share", "low"};
static const int64_t delay = 3000000;

struct cycle { int64_t release, start, end; };
static struct cycle *cycles;
static long wanted, planted[FAULTS], lines[FAULTS], waits_at;
static unsigned char *plan;
static int64_t period, work;
static const char *kind;
static int fds[2], requests[2], replies[2], stops[2], ticks[2], hogs, lows, file;
static volatile int *continued;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, contended = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int waiting_work;
static volatile int holder_turn, stop, in_cycle, lows_done;
static volatile int64_t hold_for, hog_for;
static mqd_t queue;
static char *pages;

static int64_t time_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int64_t now(void) { return time_of(CLOCK_MONOTONIC); }

static struct timespec at(int64_t ns) {
    return (struct timespec){ns / 1000000000LL, ns % 1000000000LL};
}

static void spin_on(clockid_t clock, int64_t ns) {
    for (int64_t end = time_of(clock) + ns; time_of(clock) < end;) {}
}

static void spin(int64_t ns) { spin_on(CLOCK_MONOTONIC, ns); }
static void use_cpu(int64_t ns) { spin_on(CLOCK_THREAD_CPUTIME_ID, ns); }

static void check(int failed, const char *what) {
    if (failed) { perror(what); exit(3); }
}

/* Gives work once a period. */
static void *giver(void *unused) {
    (void)unused;
    int64_t next = now() + period;
    for (long n = 0; n < wanted + 1; n++, next += period) {
        struct timespec t = at(next);
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
        uint64_t one = 1;
        if (!strcmp(kind, "condvar")) {
            pthread_mutex_lock(&lock);
            waiting_work++;
            pthread_cond_signal(&ready);
            pthread_mutex_unlock(&lock);
        } else if (!strcmp(kind, "mq")) {
            mq_send(queue, "x", 1, 0);
        } else if (n < wanted && plan[n] == 15) {
            int before = lows_done;
            check(write(lows, &one, 8) != 8, "low");
            while (lows_done == before) usleep(50);
        } else {
            ssize_t sent = write(fds[1], &one, strcmp(kind, "eventfd") ? 1 : 8);
            (void)sent;
        }
    }
    return NULL;
}

/* Gives work in place of the giver, less urgent than the loop, which sleeps by then. */
static void *low(void *unused) {
    (void)unused;
    uint64_t count;
    while (read(lows, &count, 8) == 8) {
        while (in_cycle) usleep(50);
        usleep(200);
        check(write(fds[1], &count, 1) != 1, "write");
        lows_done++;
    }
    return NULL;
}

/* Answers requests after a while, as a server would. */
static void *helper(void *unused) {
    (void)unused;
    char byte;
    while (read(requests[0], &byte, 1) == 1) {
        usleep(period * 6 / 10 / 1000);
        if (write(replies[1], &byte, 1) != 1) break;
    }
    return NULL;
}

/* Holds the contended lock as an ordinary thread, for as much of its CPU time once the loop asks for it. */
static void *holder(void *unused) {
    (void)unused;
    while (!stop) {
        if (holder_turn == 1) {
            pthread_mutex_lock(&contended);
            holder_turn = 2;
            while (holder_turn == 2) usleep(20);
            use_cpu(hold_for);
            pthread_mutex_unlock(&contended);
            holder_turn = 0;
        }
        usleep(50);
    }
    return NULL;
}

/* Takes the CPU of the loop when it is asked to. */
static void *hog(void *unused) {
    (void)unused;
    uint64_t count;
    while (read(hogs, &count, 8) == 8) use_cpu(hog_for);
    return NULL;
}

/* A process that stops its parent for a while when it is asked to. */
static void start_stopper(void) {
    check(pipe(stops), "pipe");
    continued = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t parent = getpid();
    if (fork()) return;
    char byte;
    close(stops[1]);
    prctl(PR_SET_NAME, "stopper");
    struct sched_param urgent = {.sched_priority = 90};
    check(sched_setscheduler(0, SCHED_FIFO, &urgent), "SCHED_FIFO");
    while (read(stops[0], &byte, 1) == 1) {
        kill(parent, SIGSTOP);
        usleep(delay / 1000);
        kill(parent, SIGCONT);
        ++*continued;
    }
    _exit(0);
}

/* On one CPU from here on, so that another thread can take it. */
static void stay(void) {
    cpu_set_t one;
    int last = 0;
    sched_getaffinity(0, sizeof one, &one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) if (CPU_ISSET(cpu, &one)) last = cpu;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    check(sched_setaffinity(0, sizeof one, &one), "affinity");
}

static const char *named(const char *variable, const char *usual) {
    return getenv(variable) ? getenv(variable) : usual;
}

static void start_thread(void *(*run)(void *), const char *name, int priority) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (priority > 0) {
        struct sched_param param = {.sched_priority = priority};
        pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
        pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
        pthread_attr_setschedparam(&attributes, &param);
    }
    check(pthread_create(&thread, &attributes, run, NULL), "pthread_create");
    pthread_setname_np(thread, name);
}

static void plant(int fault, long n) {
    char byte = 0;
    static long touched;
#define HERE lines[fault] = __LINE__
    switch (fault) {
    case 0: HERE; ((volatile char *)pages)[4096 * touched++] = 1; break;
    case 1: HERE; munmap(mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 65536); break;
    case 2: HERE; check(write(file, &byte, 1) != 1, "write"); break;
    case 3: HERE; fsync(file); break;
    case 4: HERE; usleep(30); break;
    case 5: { HERE; int other = open("/dev/null", O_RDONLY); close(other); break; }
    case 6: HERE; sched_yield(); break;
    case 7:
    case 8:
        hold_for = fault == 7 ? 150000 : delay;
        holder_turn = 1;
        while (holder_turn == 1) usleep(20);
        HERE; holder_turn = 3; pthread_mutex_lock(&contended);
        pthread_mutex_unlock(&contended);
        break;
    case 9:
    case 13: {
        uint64_t one = 1;
        hog_for = fault == 9 ? delay : 200000;
        check(write(hogs, &one, 8) != 8, "hog");
        break;
    }
    case 11: check(recv(ticks[0], &byte, 1, 0) != -1 || errno != EAGAIN, "recv"); break;
    /* More than the runtime of SCHED_DEADLINE, by more than a tick, at which the kernel looks. */
    case 12: use_cpu(period * 7 / 10); break;
    case 10: {
        int before = *continued;
        check(write(stops[1], &byte, 1) != 1, "stop");
        while (*continued == before) {}
        break;
    }
    }
    (void)n;
}

static void handle(int signal) { (void)signal; }

int main(int argc, char **argv) {
    if (argc < 6) { fprintf(stderr, "usage: loops KIND PERIOD_US CYCLES WORK_US LOG [SEED FAULT...]\n"); return 2; }
    kind = argv[1];
    period = atoll(argv[2]) * 1000;
    wanted = atol(argv[3]);
    work = atoll(argv[4]) * 1000;
    cycles = calloc(wanted + 1, sizeof *cycles);
    plan = calloc(wanted + 1, 1);
    pages = mmap(NULL, 4096 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(pages, 4096 * 4096, MADV_NOHUGEPAGE);
    char name[4096];
    snprintf(name, sizeof name, "%s.file", argv[5]);
    file = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    if (argc > 6) srandom(atoi(argv[6]));
    for (int a = 7; a < argc; a++) {
        for (int f = 0; f < FAULTS; f++) {
            if (strcmp(argv[a], fault_names[f])) continue;
            for (long left = f >= DELAYS && f < 11 ? 2 + random() % 3 : 3 + (f == 13) * 7 + random() % 48; left > 0;) {
                long n = random() % wanted;
                if (plan[n]) continue;
                plan[n] = f + 1;
                left--;
            }
        }
    }
    for (long n = 0; n < wanted; n++) planted[plan[n] ? plan[n] - 1 : 0] += plan[n] > 0;
    /* Touch all memory except what is to fault. */
    memset(cycles, 1, (wanted + 1) * sizeof *cycles);
    if (!getenv("UNLOCKED")) mlockall(MCL_CURRENT);
    madvise(pages, 4096 * 4096, MADV_DONTNEED);
    munlock(pages, 4096 * 4096);
    madvise(pages, 4096 * 4096, MADV_DONTNEED);

    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int deadline = !strcmp(kind, "deadline");
    int given = !strcmp(kind, "pipe") || !strcmp(kind, "eventfd") || !strcmp(kind, "socket") ||
                !strcmp(kind, "condvar") || !strcmp(kind, "mq");
    if (!strcmp(kind, "eventfd")) fds[0] = fds[1] = eventfd(0, EFD_SEMAPHORE);
    else if (!strcmp(kind, "socket")) check(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), "socketpair");
    else check(pipe(fds), "pipe");
    if (!strcmp(kind, "mq")) {
        struct mq_attr size = {.mq_maxmsg = 10, .mq_msgsize = 8};
        snprintf(name, sizeof name, "/loops-%d", getpid());
        queue = mq_open(name, O_CREAT | O_RDWR, 0600, &size);
        check(queue < 0, "mq_open");
        mq_unlink(name);
    }
    int decoy = !strncmp(kind, "decoy-", 6);
    if (decoy) {
        kind += 6;
        check(pipe(requests) || pipe(replies), "pipe");
        start_thread(helper, "helper", 0);
    }
    start_thread(holder, named("HOLDER", "holder"), 0);
    if (planted[10]) start_stopper();
    if (planted[11]) {
        struct timeval limit = {0, 1000};
        check(socketpair(AF_UNIX, SOCK_STREAM, 0, ticks), "socketpair");
        setsockopt(ticks[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    }
    if (planted[14]) {
        lows = eventfd(0, 0);
        start_thread(low, "irq/99-low", 20);
    }
    if (planted[9] || planted[13]) {
        stay();
        hogs = eventfd(0, 0);
        start_thread(hog, named("HOG", "hog"), 95);
    }
    if (!getenv("ORDINARY") && !deadline) {
        struct sched_param param = {.sched_priority = 80};
        check(sched_setscheduler(0, SCHED_FIFO, &param), "SCHED_FIFO");
    }
    if (deadline) {
        struct { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t runtime, deadline, period; }
            attr = {48, 6, 0, 0, 0, period / 2, period, period};
        check(syscall(SYS_sched_setattr, 0, &attr, 0), "sched_setattr");
    }
    if (given) start_thread(giver, "giver", 85);

    int timer = -1, epoll = -1;
    struct itimerspec every = {at(period), at(0)};
    int64_t next = now() + period;
    every.it_value = at(next);
    if (!strcmp(kind, "timerfd") || !strcmp(kind, "epoll")) {
        timer = timerfd_create(CLOCK_MONOTONIC, 0);
        timerfd_settime(timer, TFD_TIMER_ABSTIME, &every, NULL);
        if (!strcmp(kind, "epoll")) {
            struct epoll_event in = {.events = EPOLLIN};
            epoll = epoll_create1(0);
            epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &in);
        }
    }
    if (!strcmp(kind, "sigwait") || !strcmp(kind, "pause")) {
        timer_t posix;
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
        signal(SIGRTMIN, handle);
        if (!strcmp(kind, "pause")) sigprocmask(SIG_UNBLOCK, &set, NULL);
        check(timer_create(CLOCK_MONOTONIC, &event, &posix), "timer_create");
        timer_settime(posix, TIMER_ABSTIME, &every, NULL);
    }
    if (!strcmp(kind, "late")) next = now() - 20 * period;
    for (long n = 0; n <= wanted; n++) {
        uint64_t count = 1;
        char byte;
        struct timespec t = at(next);
        int64_t release = -1, started = 0;
        if (!strcmp(kind, "change") && n == wanted / 2) period = period * 3 / 2;
        if (!strcmp(kind, "abs") || !strcmp(kind, "late") || !strcmp(kind, "change")) {
            waits_at = __LINE__; clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
            release = next;
            next += period;
        } else if (!strcmp(kind, "real")) {
            if (n == 0) { next = time_of(CLOCK_REALTIME) + period; t = at(next); }
            clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL);
            next += period;
        } else if (!strcmp(kind, "rel")) usleep(period / 1000);
        else if (!strcmp(kind, "two")) { usleep(period / 3000 * 2); spin(5000); usleep(period / 3000); }
        else if (!strcmp(kind, "timerfd") || !strcmp(kind, "epoll")) {
            struct epoll_event out;
            if (epoll >= 0) { epoll_wait(epoll, &out, 1, -1); started = now(); }
            check(read(timer, &count, 8) != 8, "read");
            release = next;
            next += period * count;
        } else if (!strcmp(kind, "sigwait")) {
            siginfo_t info;
            while (sigwaitinfo(&set, &info) < 0) {}
            release = next;
            next += period * (1 + info.si_overrun);
        } else if (!strcmp(kind, "pause")) pause();
        else if (!strcmp(kind, "poll")) poll(NULL, 0, period / 1000000);
        else if (!strcmp(kind, "select")) { struct timeval v = {0, period / 1000}; select(0, NULL, NULL, NULL, &v); }
        else if (!strcmp(kind, "condvar")) {
            pthread_mutex_lock(&lock);
            while (!waiting_work) pthread_cond_wait(&ready, &lock);
            waiting_work--;
            pthread_mutex_unlock(&lock);
        } else if (!strcmp(kind, "mq")) check(mq_receive(queue, name, 8, NULL) < 0, "mq_receive");
        else if (!strcmp(kind, "pipe") || !strcmp(kind, "socket")) check(read(fds[0], &byte, 1) != 1, "read");
        else if (!strcmp(kind, "eventfd")) check(read(fds[0], &count, 8) != 8, "read");
        else if (deadline) sched_yield();
        else { fprintf(stderr, "unknown kind %s\n", kind); return 2; }
        if (n == wanted) break;
        in_cycle = 1;
        cycles[n].release = release;
        cycles[n].start = started ? started : now();
        spin(work);
        if (plan[n]) plant(plan[n] - 1, n);
        if (decoy) { byte = 1; check(write(requests[1], &byte, 1) != 1 || read(replies[0], &byte, 1) != 1, "request"); }
        cycles[n].end = now();
        in_cycle = 0;
    }
    stop = 1;
    FILE *log = fopen(argv[5], "w");
    check(!log, argv[5]);
    fprintf(log, "{\"planted\": {");
    for (int f = 0; f < FAULTS; f++) fprintf(log, "%s\"%s\": %ld", f ? ", " : "", fault_names[f], planted[f]);
    fprintf(log, "}, \"lines\": {");
    for (int f = 0; f < FAULTS; f++) fprintf(log, "%s\"%s\": %ld", f ? ", " : "", fault_names[f], lines[f]);
    fprintf(log, "}, \"waits_at\": %ld, \"delayed\": [", waits_at);
    const char *comma = "";
    for (long n = 0; n < wanted; n++) {
        if (plan[n] <= DELAYS || plan[n] > 11) continue;
        fprintf(log, "%s[%ld, \"%s\"]", comma, n, fault_names[plan[n] - 1]);
        comma = ", ";
    }
    fprintf(log, "], \"cycles\": [");
    for (long n = 0; n < wanted; n++)
        fprintf(log, "%s[%lld, %lld, %lld]", n ? ", " : "", (long long)cycles[n].release, (long long)cycles[n].start, (long long)cycles[n].end);
    fprintf(log, "]}\n");
    fclose(log);
    return 0;
}
