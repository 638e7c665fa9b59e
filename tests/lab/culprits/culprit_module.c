// SPDX-License-Identifier: GPL-2.0
/*
 * Occupies a CPU by something that the kernel can do, repeatedly while it is loaded: a culprit that
 * `latlab explain` must find.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/stop_machine.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <asm/apic.h>
#include <asm/nmi.h>

static char *what = "irqs-off";
module_param(what, charp, 0);
MODULE_PARM_DESC(what, "what holds the CPU");
static unsigned int length_us = 2000;
module_param(length_us, uint, 0);
MODULE_PARM_DESC(length_us, "for how many microseconds");
static unsigned int every_ms = 40;
module_param(every_ms, uint, 0);
MODULE_PARM_DESC(every_ms, "how many milliseconds lie between two times");
static int cpu;
module_param(cpu, int, 0);
MODULE_PARM_DESC(cpu, "which CPU");

static struct task_struct *culprit;
static DECLARE_COMPLETION(done);

/* Nothing else gets the CPU meanwhile, in any preemption model. */
static void hold(void)
{
	preempt_disable();
	mdelay(length_us / 1000);
	udelay(length_us % 1000);
	preempt_enable();
}

static void culprit_timer(struct timer_list *timer)
{
	hold();
	complete(&done);
}
static DEFINE_TIMER(timer, culprit_timer);

static enum hrtimer_restart culprit_hrtimer(struct hrtimer *timer)
{
	hold();
	complete(&done);
	return HRTIMER_NORESTART;
}
static struct hrtimer hrtimer;

static void culprit_tasklet(struct tasklet_struct *tasklet)
{
	hold();
	complete(&done);
}
static DECLARE_TASKLET(tasklet, culprit_tasklet);

static void culprit_work(struct work_struct *work)
{
	hold();
	complete(&done);
}
static DECLARE_WORK(work, culprit_work);

static void culprit_callback(struct rcu_head *head)
{
	hold();
	complete(&done);
}
static struct rcu_head head;

static void culprit_irq_work(struct irq_work *work)
{
	hold();
	complete(&done);
}
static struct irq_work irq_work = IRQ_WORK_INIT_HARD(culprit_irq_work);

/* An interrupt of a device that does not exist. */
static int line = -1;

static irqreturn_t culprit_handler(int irq, void *unused)
{
	hold();
	complete(&done);
	return IRQ_HANDLED;
}

static void culprit_raise(struct irq_work *work)
{
	generic_handle_irq(line);
}
static struct irq_work raise_work = IRQ_WORK_INIT_HARD(culprit_raise);

static int culprit_line(void)
{
	/* Without an owner, so that this module can be unloaded. */
	line = __irq_alloc_descs(-1, 0, 1, NUMA_NO_NODE, NULL, NULL);
	if (line < 0)
		return line;
	irq_set_chip_and_handler(line, &dummy_irq_chip, handle_simple_irq);
	return request_irq(line, culprit_handler, IRQF_NO_THREAD, "culprit-device", &line);
}

static int culprit_nmi(unsigned int type, struct pt_regs *registers)
{
	mdelay(length_us / 1000);
	return NMI_HANDLED;
}

static int culprit_stop(void *unused)
{
	hold();
	return 0;
}

static void culprit_call(void *unused)
{
	hold();
}

static void act(void)
{
	unsigned long flags;

	if (!strcmp(what, "none")) {
		return;
	} else if (!strcmp(what, "irqs-off")) {
		local_irq_save(flags);
		hold();
		local_irq_restore(flags);
	} else if (!strcmp(what, "preempt-off") || !strcmp(what, "irq-thread")) {
		hold();
	} else if (!strcmp(what, "nmi")) {
		apic->send_IPI(raw_smp_processor_id(), NMI_VECTOR);
	} else if (!strcmp(what, "stop-machine")) {
		stop_machine(culprit_stop, NULL, NULL);
	} else if (!strcmp(what, "call-function")) {
		smp_call_function_single(cpu, culprit_call, NULL, true);
	} else {
		reinit_completion(&done);
		if (!strcmp(what, "timer"))
			mod_timer(&timer, jiffies + 1);
		else if (!strcmp(what, "hrtimer"))
			hrtimer_start(&hrtimer, ns_to_ktime(300000), HRTIMER_MODE_REL_PINNED_HARD);
		else if (!strcmp(what, "tasklet"))
			tasklet_schedule(&tasklet);
		else if (!strcmp(what, "work"))
			queue_work_on(cpu, system_highpri_wq, &work);
		else if (!strcmp(what, "rcu"))
			call_rcu(&head, culprit_callback);
		else if (!strcmp(what, "irq-work"))
			irq_work_queue(&irq_work);
		else if (!strcmp(what, "irq"))
			irq_work_queue(&raise_work);
		wait_for_completion_timeout(&done, HZ);
	}
}

static int culprit_thread(void *unused)
{
	while (!kthread_should_stop()) {
		act();
		schedule_timeout_interruptible(msecs_to_jiffies(every_ms));
	}
	return 0;
}

static int __init culprit_init(void)
{
	bool is_irq_thread = !strcmp(what, "irq-thread");
	int refused = strcmp(what, "irq") ? 0 : culprit_line();

	if (refused < 0)
		return refused;
	hrtimer_init(&hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer.function = culprit_hrtimer;
	if (!strcmp(what, "nmi"))
		refused = register_nmi_handler(NMI_LOCAL, culprit_nmi, 0, "culprit");
	if (refused < 0)
		return refused;
	culprit = kthread_create(culprit_thread, NULL, is_irq_thread ? "irq/77-culprit" : "culprit");
	if (IS_ERR(culprit))
		return PTR_ERR(culprit);
	/* A function call on a CPU has to come from another one. */
	kthread_bind(culprit, strcmp(what, "call-function") ? cpu : !cpu);
	if (is_irq_thread)
		sched_set_fifo(culprit);
	wake_up_process(culprit);
	return 0;
}

static void __exit culprit_exit(void)
{
	kthread_stop(culprit);
	hrtimer_cancel(&hrtimer);
	del_timer_sync(&timer);
	tasklet_kill(&tasklet);
	cancel_work_sync(&work);
	irq_work_sync(&irq_work);
	irq_work_sync(&raise_work);
	if (line >= 0) {
		free_irq(line, &line);
		irq_free_desc(line);
	}
	rcu_barrier();
	if (!strcmp(what, "nmi"))
		unregister_nmi_handler(NMI_LOCAL, "culprit");
}

module_init(culprit_init);
module_exit(culprit_exit);
MODULE_DESCRIPTION("Holds a CPU by something of the kernel");
MODULE_LICENSE("GPL");
