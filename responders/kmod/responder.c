// SPDX-License-Identifier: GPL-2.0
/* Answers a pin in the kernel: an interrupt raises the output when the input has risen. */
#include <linux/gpio/consumer.h>
#include <linux/gpio/machine.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

static char *chip = "gpiochip0";
module_param(chip, charp, 0444);
MODULE_PARM_DESC(chip, "label of the GPIO chip, as gpiodetect prints it in brackets");
static unsigned short input = 17;
module_param(input, ushort, 0444);
MODULE_PARM_DESC(input, "line of the stimulus");
static unsigned short output = 27;
module_param(output, ushort, 0444);
MODULE_PARM_DESC(output, "line of the response");
static char *handler = "plain";
module_param(handler, charp, 0444);
MODULE_PARM_DESC(handler, "plain: as drivers do, which PREEMPT_RT moves to a thread; hard: in the "
		 "interrupt on every kernel; threaded: in a thread on every kernel");

static struct platform_device *device;
static struct gpiod_lookup_table *lines;
static struct gpio_desc *in, *out;
static int irq;

static irqreturn_t answer(int irq, void *data)
{
	gpiod_set_value(out, 1);
	gpiod_set_value(out, 0);
	return IRQ_HANDLED;
}

static int request(void)
{
	if (!strcmp(handler, "hard"))
		return request_irq(irq, answer, IRQF_TRIGGER_RISING | IRQF_NO_THREAD, "responder", NULL);
	if (!strcmp(handler, "threaded"))
		return request_threaded_irq(irq, NULL, answer, IRQF_TRIGGER_RISING | IRQF_ONESHOT,
					    "responder", NULL);
	return request_irq(irq, answer, IRQF_TRIGGER_RISING, "responder", NULL);
}

static int take_lines(void)
{
	in = gpiod_get(&device->dev, "in", GPIOD_IN);
	if (IS_ERR(in))
		return PTR_ERR(in);
	out = gpiod_get(&device->dev, "out", GPIOD_OUT_LOW);
	if (IS_ERR(out)) {
		gpiod_put(in);
		return PTR_ERR(out);
	}
	irq = gpiod_to_irq(in);
	return irq < 0 ? irq : request();
}

static int __init responder_init(void)
{
	int failed;

	lines = kzalloc(struct_size(lines, table, 3), GFP_KERNEL);
	if (!lines)
		return -ENOMEM;
	lines->dev_id = "responder";
	lines->table[0] = GPIO_LOOKUP(chip, input, "in", GPIO_ACTIVE_HIGH);
	lines->table[1] = GPIO_LOOKUP(chip, output, "out", GPIO_ACTIVE_HIGH);
	gpiod_add_lookup_table(lines);
	device = platform_device_register_simple("responder", PLATFORM_DEVID_NONE, NULL, 0);
	failed = IS_ERR(device) ? PTR_ERR(device) : take_lines();
	if (failed) {
		if (!IS_ERR(device))
			platform_device_unregister(device);
		gpiod_remove_lookup_table(lines);
		kfree(lines);
	}
	return failed;
}

static void __exit responder_exit(void)
{
	free_irq(irq, NULL);
	gpiod_put(out);
	gpiod_put(in);
	platform_device_unregister(device);
	gpiod_remove_lookup_table(lines);
	kfree(lines);
}

module_init(responder_init);
module_exit(responder_exit);

MODULE_DESCRIPTION("Raises a pin when another one has risen");
MODULE_LICENSE("GPL");
