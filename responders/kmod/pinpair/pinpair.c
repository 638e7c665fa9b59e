// SPDX-License-Identifier: GPL-2.0
/*
 * A pair of pins without hardware: a GPIO chip whose input rises at known instants, and which records
 * when its output rises.
 *
 * Line 0 is the stimulus, line 1 the response. Reading debugfs' pinpair/edges starts the edges, waits
 * for the last of them, and returns the fate of each. The edges come from a timer in hard interrupt
 * context; their instants depend only on the seed, and responses count from them, so time with
 * interrupts disabled counts as well.
 *
 * With wired=1 there are two wires instead: line 0 follows line 1, and line 2 follows line 3.
 *
 * With board=LABEL it creates no chip: the edges are made on line `raised` of that chip, and the
 * responses are the interrupts of its line `watched`. Wires have to lead from there to a responder and back.
 */
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/gpio/consumer.h>
#include <linux/gpio/driver.h>
#include <linux/gpio/machine.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irq_work.h>
#include <linux/irqdesc.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/version.h>

#define LINES 4
#define STIMULUS 0
#define RESPONSE 1
#define MOST_EDGES 100000

static unsigned int edges = 600;
module_param(edges, uint, 0444);
MODULE_PARM_DESC(edges, "number of stimuli");
static unsigned long from_ns = 1000000;
module_param(from_ns, ulong, 0444);
MODULE_PARM_DESC(from_ns, "least distance of two stimuli");
static unsigned long to_ns = 2000000;
module_param(to_ns, ulong, 0444);
MODULE_PARM_DESC(to_ns, "largest distance of two stimuli");
static unsigned long seed = 1;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "seed of the distances");
static int base = -1;
module_param(base, int, 0444);
MODULE_PARM_DESC(base, "number of the first line in the GPIO sysfs; -1 lets the kernel choose");
static bool wired;
module_param(wired, bool, 0444);
MODULE_PARM_DESC(wired, "two wires, from line 1 to 0 and from line 3 to 2, instead of stimuli");
static char *board;
module_param(board, charp, 0444);
MODULE_PARM_DESC(board, "label of a chip whose lines are used, instead of a chip of our own");
static unsigned short raised;
module_param(raised, ushort, 0444);
MODULE_PARM_DESC(raised, "line of that chip that makes the stimuli");
static unsigned short watched;
module_param(watched, ushort, 0444);
MODULE_PARM_DESC(watched, "line of that chip that shows the responses");

struct edge {
	ktime_t at;
	ktime_t answered;
};

/* CPU time used until a response. */
struct usage {
	unsigned int edge;
	u64 interrupts;
	u64 threads;
};

static struct {
	struct gpio_chip chip;
	struct platform_device *device;
	struct dentry *folder;
	raw_spinlock_t lock;
	bool level[LINES];
	bool enabled[LINES];
	unsigned int type[LINES];
	struct irq_work rise[LINES];

	/* Lines of another chip, if there are any. */
	struct gpiod_lookup_table *lines;
	struct gpio_desc *raised;
	struct gpio_desc *watched;
	int irq;

	/* The stimuli. */
	struct mutex reading;
	struct hrtimer timer;
	struct completion done;
	struct edge *edges;
	unsigned int next;
	bool started;
	unsigned int doubled;
	unsigned int spurious;
	/* Time of the stimuli's interrupts, from the timer's call until they were handled. */
	u64 interrupts;
	struct task_struct *answerer;
	struct usage first;
	struct usage last;
} pair;

static bool wants(unsigned int line, bool rising)
{
	unsigned int edge = rising ? IRQ_TYPE_EDGE_RISING : IRQ_TYPE_EDGE_FALLING;

	return READ_ONCE(pair.enabled[line]) && (READ_ONCE(pair.type[line]) & edge);
}

/* In hard interrupt context. */
static void interrupt(unsigned int line)
{
	generic_handle_domain_irq(pair.chip.irq.domain, line);
}

/* The thread of a threaded handler, for any consumer of the line. */
static struct task_struct *handler_thread(void)
{
	unsigned int irq = irq_find_mapping(pair.chip.irq.domain, STIMULUS);
	struct irq_data *data = irq ? irq_get_irq_data(irq) : NULL;
	struct irqaction *action = data ? irq_data_to_desc(data)->action : NULL;

	return action ? action->thread : NULL;
}

/* Called with the lock held, in the context of the responder. */
static struct usage usage_now(unsigned int edge)
{
	struct usage usage = { .edge = edge, .interrupts = pair.interrupts };
	struct task_struct *handler = handler_thread();

	if (handler)
		usage.threads += handler->se.sum_exec_runtime;
	if (pair.answerer && pair.answerer != handler)
		usage.threads += pair.answerer->se.sum_exec_runtime;
	return usage;
}

/* Called with the lock held. */
static void note_response(ktime_t now)
{
	struct edge *edge;

	if (!pair.started || pair.next == 0) {
		pair.spurious++;
		return;
	}
	edge = &pair.edges[pair.next - 1];
	if (edge->answered) {
		pair.doubled++;
		return;
	}
	edge->answered = now;
	/* The responder on lines of another chip is unknown. */
	if (board)
		return;
	if (!pair.answerer && !in_hardirq()) {
		pair.answerer = current;
		get_task_struct(current);
		pair.first = usage_now(pair.next - 1);
	}
	pair.last = usage_now(pair.next - 1);
}

static void pinpair_set(struct gpio_chip *chip, unsigned int line, int value)
{
	ktime_t now = ktime_get();
	unsigned long flags;
	bool changes;

	raw_spin_lock_irqsave(&pair.lock, flags);
	changes = pair.level[line] != !!value;
	pair.level[line] = value;
	if (changes && wired)
		pair.level[line - 1] = value;
	if (changes && value && !wired && line == RESPONSE)
		note_response(now);
	raw_spin_unlock_irqrestore(&pair.lock, flags);
	if (changes && wired && wants(line - 1, value))
		irq_work_queue(&pair.rise[line - 1]);
}

static int pinpair_get(struct gpio_chip *chip, unsigned int line)
{
	return READ_ONCE(pair.level[line]);
}

static int pinpair_get_direction(struct gpio_chip *chip, unsigned int line)
{
	return line % 2 ? GPIO_LINE_DIRECTION_OUT : GPIO_LINE_DIRECTION_IN;
}

static int pinpair_direction_input(struct gpio_chip *chip, unsigned int line)
{
	return line % 2 ? -EINVAL : 0;
}

static int pinpair_direction_output(struct gpio_chip *chip, unsigned int line, int value)
{
	if (line % 2 == 0)
		return -EINVAL;
	pinpair_set(chip, line, value);
	return 0;
}

static void pinpair_mask(struct irq_data *data)
{
	irq_hw_number_t line = irqd_to_hwirq(data);

	WRITE_ONCE(pair.enabled[line], false);
	gpiochip_disable_irq(&pair.chip, line);
}

static void pinpair_unmask(struct irq_data *data)
{
	irq_hw_number_t line = irqd_to_hwirq(data);

	gpiochip_enable_irq(&pair.chip, line);
	WRITE_ONCE(pair.enabled[line], true);
}

static int pinpair_set_type(struct irq_data *data, unsigned int type)
{
	if (type & ~IRQ_TYPE_EDGE_BOTH)
		return -EINVAL;
	WRITE_ONCE(pair.type[irqd_to_hwirq(data)], type);
	return 0;
}

static const struct irq_chip pinpair_irqs = {
	.name = "pinpair",
	.irq_mask = pinpair_mask,
	.irq_unmask = pinpair_unmask,
	.irq_set_type = pinpair_set_type,
	.flags = IRQCHIP_IMMUTABLE,
	GPIOCHIP_IRQ_RESOURCE_HELPERS,
};

static irqreturn_t responded(int irq, void *data)
{
	ktime_t now = ktime_get();
	unsigned long flags;

	raw_spin_lock_irqsave(&pair.lock, flags);
	note_response(now);
	raw_spin_unlock_irqrestore(&pair.lock, flags);
	return IRQ_HANDLED;
}

/* In hard interrupt context. */
static void set_stimulus(bool value)
{
	WRITE_ONCE(pair.level[STIMULUS], value);
	if (board)
		gpiod_set_value(pair.raised, value);
	else if (wants(STIMULUS, value))
		interrupt(STIMULUS);
}

static void wire_changed(struct irq_work *work)
{
	interrupt(work - pair.rise);
}

/* Rises and falls in turns; half of the least distance is enough for any responder to notice. */
static enum hrtimer_restart fire(struct hrtimer *timer)
{
	ktime_t begun, next;

	if (pair.level[STIMULUS]) {
		set_stimulus(false);
		next = pair.next < edges ? pair.edges[pair.next].at :
			ktime_add_ns(pair.edges[edges - 1].at, to_ns);
	} else if (pair.next == edges) {
		complete(&pair.done);
		return HRTIMER_NORESTART;
	} else {
		next = ktime_add_ns(pair.edges[pair.next].at, from_ns / 2);
		pair.next++;
		begun = ktime_get();
		set_stimulus(true);
		pair.interrupts += ktime_to_ns(ktime_sub(ktime_get(), begun));
	}
	hrtimer_set_expires(timer, next);
	return HRTIMER_RESTART;
}

/* splitmix64 */
static u64 random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static void plan_edges(ktime_t at)
{
	u64 state = seed, span = to_ns - from_ns + 1;
	unsigned int i;

	for (i = 0; i < edges; i++) {
		/* The upper half of the product is evenly distributed. */
		at = ktime_add_ns(at, from_ns + (((random(&state) >> 32) * span) >> 32));
		pair.edges[i].at = at;
	}
}

static int run_edges(void)
{
	/* The reader sleeps by then. */
	plan_edges(ktime_add_ns(ktime_get(), to_ns));
	pair.started = true;
	hrtimer_start(&pair.timer, pair.edges[0].at, HRTIMER_MODE_ABS_HARD);
	if (!wait_for_completion_interruptible(&pair.done))
		return 0;
	hrtimer_cancel(&pair.timer);
	return -EINTR;
}

/*
 * First the responses beyond one for each edge, those to no edge, and CPU time in ns, of interrupts
 * and of threads, with the number of edges that it was used for, 0 if unknown; then a line for each
 * edge: its time, and that of the answer, on CLOCK_MONOTONIC, 0 for never.
 */
static int edges_show(struct seq_file *file, void *unused)
{
	unsigned int i;
	int failed = 0;

	mutex_lock(&pair.reading);
	if (!pair.started)
		failed = run_edges();
	if (!failed) {
		seq_printf(file, "%u %u %llu %u %llu %u\n", pair.doubled, pair.spurious,
			   pair.interrupts, board ? 0 : edges,
			   pair.last.threads - pair.first.threads, pair.last.edge - pair.first.edge);
		for (i = 0; i < edges; i++)
			seq_printf(file, "%lld %lld\n", ktime_to_ns(pair.edges[i].at),
				   ktime_to_ns(pair.edges[i].answered));
	}
	mutex_unlock(&pair.reading);
	return failed;
}
DEFINE_SHOW_ATTRIBUTE(edges);

static int add_chip(void)
{
	struct gpio_chip *chip = &pair.chip;

	chip->label = "pinpair";
	chip->parent = &pair.device->dev;
	chip->owner = THIS_MODULE;
	chip->base = base;
	chip->ngpio = LINES;
	chip->get = pinpair_get;
	chip->set = pinpair_set;
	chip->get_direction = pinpair_get_direction;
	chip->direction_input = pinpair_direction_input;
	chip->direction_output = pinpair_direction_output;
	gpio_irq_chip_set_chip(&chip->irq, &pinpair_irqs);
	chip->irq.handler = handle_simple_irq;
	chip->irq.default_type = IRQ_TYPE_NONE;
	return gpiochip_add_data(chip, NULL);
}

static int take_lines(void)
{
	pair.lines = kzalloc(struct_size(pair.lines, table, 3), GFP_KERNEL);
	if (!pair.lines)
		return -ENOMEM;
	pair.lines->dev_id = "pinpair";
	pair.lines->table[0] = GPIO_LOOKUP(board, raised, "raised", GPIO_ACTIVE_HIGH);
	pair.lines->table[1] = GPIO_LOOKUP(board, watched, "watched", GPIO_ACTIVE_HIGH);
	gpiod_add_lookup_table(pair.lines);
	/* Released with the device. */
	pair.raised = devm_gpiod_get(&pair.device->dev, "raised", GPIOD_OUT_LOW);
	if (IS_ERR(pair.raised))
		return PTR_ERR(pair.raised);
	pair.watched = devm_gpiod_get(&pair.device->dev, "watched", GPIOD_IN);
	if (IS_ERR(pair.watched))
		return PTR_ERR(pair.watched);
	pair.irq = gpiod_to_irq(pair.watched);
	if (pair.irq < 0)
		return pair.irq;
	return request_irq(pair.irq, responded, IRQF_TRIGGER_RISING | IRQF_NO_THREAD, "pinpair", NULL);
}

static void leave_lines(void)
{
	if (pair.lines)
		gpiod_remove_lookup_table(pair.lines);
	kfree(pair.lines);
}

static int __init pinpair_init(void)
{
	unsigned int i;
	int failed;

	/* The span is a 32-bit factor above. */
	if (!edges || edges > MOST_EDGES || !from_ns || to_ns < from_ns || to_ns > U32_MAX / 2)
		return -EINVAL;
	pair.edges = kvcalloc(edges, sizeof(*pair.edges), GFP_KERNEL);
	if (!pair.edges)
		return -ENOMEM;
	raw_spin_lock_init(&pair.lock);
	mutex_init(&pair.reading);
	init_completion(&pair.done);
	for (i = 0; i < LINES; i++)
		pair.rise[i] = IRQ_WORK_INIT_HARD(wire_changed);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&pair.timer, fire, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
#else
	hrtimer_init(&pair.timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	pair.timer.function = fire;
#endif
	pair.device = platform_device_register_simple("pinpair", PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(pair.device)) {
		failed = PTR_ERR(pair.device);
		goto free;
	}
	failed = board ? take_lines() : add_chip();
	if (failed)
		goto unregister;
	if (!wired) {
		pair.folder = debugfs_create_dir("pinpair", NULL);
		debugfs_create_file("edges", 0400, pair.folder, NULL, &edges_fops);
	}
	return 0;

unregister:
	platform_device_unregister(pair.device);
	leave_lines();
free:
	kvfree(pair.edges);
	return failed;
}

static void __exit pinpair_exit(void)
{
	unsigned int i;

	debugfs_remove_recursive(pair.folder);
	hrtimer_cancel(&pair.timer);
	for (i = 0; i < LINES; i++)
		irq_work_sync(&pair.rise[i]);
	if (board)
		free_irq(pair.irq, NULL);
	else
		gpiochip_remove(&pair.chip);
	platform_device_unregister(pair.device);
	leave_lines();
	if (pair.answerer)
		put_task_struct(pair.answerer);
	kvfree(pair.edges);
}

module_init(pinpair_init);
module_exit(pinpair_exit);

MODULE_DESCRIPTION("A pair of pins without hardware, to measure what answers an edge");
MODULE_LICENSE("GPL");
