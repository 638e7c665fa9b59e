// SPDX-License-Identifier: GPL-2.0
/* Keeps interrupts off for a while: an injected fault that a measurement has to find. */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/module.h>

static unsigned int length_us = 2000;
module_param(length_us, uint, 0);
MODULE_PARM_DESC(length_us, "for how many microseconds");

static int __init irqs_off_init(void)
{
	unsigned long flags;

	local_irq_save(flags);
	mdelay(length_us / 1000);
	udelay(length_us % 1000);
	local_irq_restore(flags);
	/* The work is done: refuse to stay, so that it can be loaded again. */
	return -EAGAIN;
}
module_init(irqs_off_init);

MODULE_DESCRIPTION("Keeps interrupts off for a while");
MODULE_LICENSE("GPL");
