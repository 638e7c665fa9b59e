/* The two lines of a GPIO chip, through the character device (version 2, Linux 5.10 and later). */
#include <fcntl.h>
#include <linux/gpio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Takes a line of a chip; flags say what for. */
static int request_line(const char *chip, const char *line, __u64 flags)
{
    struct gpio_v2_line_request request = { .num_lines = 1, .consumer = "responder" };
    int fd = open(chip, O_RDWR);
    request.offsets[0] = atoi(line);
    request.config.flags = flags;
    if (fd < 0 || ioctl(fd, GPIO_V2_GET_LINE_IOCTL, &request) < 0) {
        perror(chip);
        exit(1);
    }
    close(fd);
    return request.fd;
}

static void set_line(int line, int value)
{
    struct gpio_v2_line_values values = { .bits = value, .mask = 1 };
    if (ioctl(line, GPIO_V2_LINE_SET_VALUES_IOCTL, &values) < 0) {
        perror("set");
        exit(1);
    }
}
