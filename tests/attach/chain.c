/* Three threads, each of which releases the next: the sensor by its timer, control by a condition variable, the
 * actuator by a pipe. Its log has the release of the sensor and the end of the actuator for each chain.
 *
 *   chain PERIOD_US CHAINS LOG SEED */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int64_t period, *releases, *ends;
static long wanted;
static int fds[2], given;
static pthread_mutex_t lock;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Works for a time that differs from chain to chain. */
static void work(void) {
    for (int64_t end = now() + 20000 + random() % 100000; now() < end;) {}
}

static void *sensor(void *unused) {
    (void)unused;
    int64_t next = now() + period;
    for (long n = 0; n < wanted; n++, next += period) {
        struct timespec t = {next / 1000000000LL, next % 1000000000LL};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
        releases[n] = next;
        work();
        pthread_mutex_lock(&lock);
        given++;
        pthread_cond_signal(&ready);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *control(void *unused) {
    (void)unused;
    for (long n = 0; n < wanted; n++) {
        pthread_mutex_lock(&lock);
        while (!given) pthread_cond_wait(&ready, &lock);
        given--;
        pthread_mutex_unlock(&lock);
        work();
        if (write(fds[1], &fds, 1) != 1) exit(3);
    }
    return NULL;
}

static void *actuator(void *unused) {
    (void)unused;
    char byte;
    for (long n = 0; n < wanted; n++) {
        if (read(fds[0], &byte, 1) != 1) exit(3);
        work();
        ends[n] = now();
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 5) { fprintf(stderr, "usage: chain PERIOD_US CHAINS LOG SEED\n"); return 2; }
    period = atoll(argv[1]) * 1000;
    wanted = atol(argv[2]);
    srandom(atoi(argv[4]));
    releases = calloc(wanted, sizeof *releases);
    ends = calloc(wanted, sizeof *ends);
    mlockall(MCL_CURRENT);
    pthread_mutexattr_t inherits;
    pthread_mutexattr_init(&inherits);
    pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&lock, &inherits);
    if (pipe(fds)) { perror("pipe"); return 3; }
    void *(*runs[3])(void *) = {actuator, control, sensor};
    const char *names[3] = {"actuator", "control", "sensor"};
    pthread_t threads[3];
    for (int n = 0; n < 3; n++) {
        pthread_attr_t attributes;
        struct sched_param param = {.sched_priority = 70 + 5 * n};
        pthread_attr_init(&attributes);
        pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
        pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
        pthread_attr_setschedparam(&attributes, &param);
        if (pthread_create(&threads[n], &attributes, runs[n], NULL)) { perror("pthread_create"); return 3; }
        pthread_setname_np(threads[n], names[n]);
    }
    for (int n = 0; n < 3; n++) pthread_join(threads[n], NULL);
    FILE *log = fopen(argv[3], "w");
    if (!log) { perror(argv[3]); return 3; }
    fprintf(log, "{\"planted\": {}, \"cycles\": [], \"chains\": [");
    for (long n = 0; n < wanted; n++)
        fprintf(log, "%s[%lld, %lld]", n ? ", " : "", (long long)releases[n], (long long)ends[n]);
    fprintf(log, "]}\n");
    fclose(log);
    return 0;
}
