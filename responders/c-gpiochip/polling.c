/* Makes a line follow another one: polls its level, and never sleeps. */
#include "lines.h"

int main(int argc, char **argv)
{
    struct gpio_v2_line_values values = { .mask = 1 };
    int level = 0;
    if (argc != 4) {
        fprintf(stderr, "usage: %s /dev/gpiochipN INPUT OUTPUT\n", argv[0]);
        return 2;
    }
    int in = request_line(argv[1], argv[2], GPIO_V2_LINE_FLAG_INPUT);
    int out = request_line(argv[1], argv[3], GPIO_V2_LINE_FLAG_OUTPUT);
    puts("ready");
    fflush(stdout);
    while (ioctl(in, GPIO_V2_LINE_GET_VALUES_IOCTL, &values) == 0) {
        if ((int)values.bits == level)
            continue;
        level = values.bits;
        set_line(out, level);
    }
    perror("get");
    return 1;
}
