/* Raises a line when another one has risen: sleeps until the kernel reports the edge. */
#include "lines.h"

int main(int argc, char **argv)
{
    struct gpio_v2_line_event event;
    if (argc != 4) {
        fprintf(stderr, "usage: %s /dev/gpiochipN INPUT OUTPUT\n", argv[0]);
        return 2;
    }
    int in = request_line(argv[1], argv[2], GPIO_V2_LINE_FLAG_INPUT | GPIO_V2_LINE_FLAG_EDGE_RISING);
    int out = request_line(argv[1], argv[3], GPIO_V2_LINE_FLAG_OUTPUT);
    puts("ready");
    fflush(stdout);
    while (read(in, &event, sizeof event) == sizeof event) {
        set_line(out, 1);
        set_line(out, 0);
    }
    perror("read");
    return 1;
}
