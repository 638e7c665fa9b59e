/* Raises a pin when another one has risen, through the files of the old GPIO sysfs. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_file(const char *pin, const char *file, int mode)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/class/gpio/%s%s%s", pin, *pin ? "/" : "", file);
    int fd = open(path, mode);
    if (fd < 0) {
        perror(path);
        exit(1);
    }
    return fd;
}

static void write_file(const char *pin, const char *file, const char *text)
{
    int fd = open_file(pin, file, O_WRONLY);
    /* A pin that an earlier program has exported is still exported. */
    if (write(fd, text, strlen(text)) < 0 && *pin) {
        perror(file);
        exit(1);
    }
    close(fd);
}

int main(int argc, char **argv)
{
    char input[32], output[32], value[4];
    if (argc != 3) {
        fprintf(stderr, "usage: %s INPUT OUTPUT (numbers of the pins, as in /sys/class/gpio)\n", argv[0]);
        return 2;
    }
    snprintf(input, sizeof input, "gpio%s", argv[1]);
    snprintf(output, sizeof output, "gpio%s", argv[2]);
    write_file("", "export", argv[1]);
    write_file("", "export", argv[2]);
    write_file(input, "edge", "rising");
    write_file(output, "direction", "out");
    struct pollfd in = { .fd = open_file(input, "value", O_RDONLY), .events = POLLPRI | POLLERR };
    int out = open_file(output, "value", O_WRONLY);
    /* The first poll always reports an edge. */
    if (read(in.fd, value, sizeof value) < 0) {
        perror("value");
        return 1;
    }
    puts("ready");
    fflush(stdout);
    while (poll(&in, 1, -1) >= 0) {
        if (write(out, "1", 1) != 1 || write(out, "0", 1) != 1)
            break;
        lseek(in.fd, 0, SEEK_SET);
        if (read(in.fd, value, sizeof value) < 0)
            break;
    }
    perror("value");
    return 1;
}
