/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A QEMU plugin: it counts the instructions of a guest and records what ran before wake-ups.
 *
 * latlab replays a guest with this plugin, and reads its output; nothing of it is linked
 * with latlab. Built freestanding, since it needs no library: see Makefile.
 *
 * The guest marks each wake-up of a measuring thread by a store that no compiler emits, of the release and
 * the latency as a pair. Until then all blocks of instructions are recorded in a ring.
 * If the wake-up is wanted, the content of the ring since before its release is written.
 *
 * Arguments:
 *   out=PATH     output file
 *   guest=x86_64 or guest=aarch64
 *   text=N       an address in the kernel's image minus the physical address of the same byte
 *   switch=N     address of the kernel's function that switches between threads
 *   comm=N pid=N tgid=N   offsets of a thread's name and numbers in its task_struct
 *   wanted=PATH  releases, ascending, 8 bytes each; without it all wake-ups are written
 *
 * Output, little endian: items of an 8-byte head (kind, size of the rest) and
 *   HELLO  version, interface
 *   BLOCK  number, count of instructions, address (8), a size byte for each, their bytes
 *   TASK   number, pid, tgid, 0, address (8), name (16)
 *   WAKE   release (8), clock (8), count (8), task at the start, task, records: kind and value
 *          (4 bits, 28 bits), repeats, count (8); for a block that begins where the previous one
 *          ended, and does not repeat, only the kind FOLLOWS and the value
 *   END    count (8), marks (8), wake-ups written (8), blocks without room (8)
 */

#include "plugin.h"

enum { VERSION = 2 };
enum { HELLO = 1, BLOCK = 2, TASK = 3, WAKE = 4, END = 5 };
/* Kinds of records. */
enum { RAN = 0, SWITCHED = 1, READ_CLOCK = 2, FOLLOWS = 3 };

enum { RING = 1 << 22, MARKS = 1 << 10, BLOCKS = 1 << 21, HASHES = 1 << 22, TASKS = 1 << 16 };
enum { LONGEST_BLOCK = 1 << 14, MOST_INSTRUCTIONS = 1 << 10 };
/* Instructions before the release that a window includes. */
enum { BEFORE = 3000 };
static const u64 ARENA = 4ULL << 30;

struct record {
	u64 count;
	u32 kind;
	u32 repeats;
};

struct mark {
	u64 position, count;
	u32 task;
};

struct block {
	u64 address;
	u32 hash, size;
	u16 instructions;
	u8 written, padding;
	u8 bytes[]; /* the size of each instruction, then the instructions */
};

struct task {
	u64 address;
	u32 pid, tgid;
	u8 name[16];
	u8 written;
};

EXPORTED int qemu_plugin_version = INTERFACE;

static struct {
	u64 text, switch_at, comm, pid, tgid;
	int arm, all, out;
	const i64 *wanted;
	u64 wanted_count;
} asked;

#if INTERFACE == 1
static u64 counted;
static u64 *count = &counted;
#else
static u64 none;
static u64 *count = &none;
static struct qemu_plugin_scoreboard *board;
#endif

static struct record ring[RING];
static u64 head; /* records ever made */
static u64 began; /* count at the start of the current block */
static struct mark marks[MARKS];
static u64 marked, written, no_place;

static u8 *arena;
static u64 arena_used = 16;
static u32 blocks; /* ever made; numbers begin at 1 */
static u64 place[BLOCKS]; /* in the arena */
static u32 hashes[HASHES];
/* In instructions; packed, since writing each record reads it. */
static u16 lengths[BLOCKS];

static struct task tasks[TASKS];
static u32 task_count = 1, current;
static u8 *memory; /* host address of the guest's physical address 0 */

/* Output. */

static u8 buffer[1 << 16];
static size_t buffered;

static void write_out(const void *from, size_t size)
{
	size_t done = 0;

	while (done < size) {
		long wrote = system_call(SYS_WRITE, asked.out, (long)((const u8 *)from + done),
					 (long)(size - done), 0, 0, 0);
		enum { INTERRUPTED = -4 };

		if (wrote == INTERRUPTED)
			continue;
		if (wrote <= 0) {
			/* The reader has gone, so end the guest. */
			complain("replay: cannot write\n");
			system_call(SYS_EXIT_GROUP, 1, 0, 0, 0, 0, 0);
		}
		done += (size_t)wrote;
	}
}

static void flush(void)
{
	write_out(buffer, buffered);
	buffered = 0;
}

static void put(const void *bytes, size_t size)
{
	const u8 *from = bytes;

	while (size > 0) {
		size_t part = sizeof(buffer) - buffered;

		if (part > size)
			part = size;
		memcpy(buffer + buffered, from, part);
		buffered += part;
		from += part;
		size -= part;
		if (buffered == sizeof(buffer))
			flush();
	}
}

static void put32(u32 value)
{
	put(&value, sizeof(value));
}

static void put64(u64 value)
{
	put(&value, sizeof(value));
}

static void put_head(u32 kind, u32 size)
{
	put32(kind);
	put32(size);
}

static struct block *block_of(u32 number)
{
	return (struct block *)(arena + place[number]);
}

static void put_block(u32 number)
{
	struct block *block = block_of(number);

	if (block->written)
		return;
	block->written = 1;
	put_head(BLOCK, 16 + block->instructions + block->size);
	put32(number);
	put32(block->instructions);
	put64(block->address);
	put(block->bytes, block->instructions + block->size);
}

static void put_task(u32 number)
{
	struct task *task = &tasks[number];

	if (task->written)
		return;
	task->written = 1;
	put_head(TASK, 40);
	put32(number);
	put32(task->pid);
	put32(task->tgid);
	put32(0);
	put64(task->address);
	put(task->name, sizeof(task->name));
}

/* Recording. */

static void note(u64 at, u32 kind, u32 value)
{
	struct record *record = &ring[head++ % RING];

	record->count = at;
	record->kind = kind << 28 | value;
	record->repeats = 0;
}

static void block_runs(u32 cpu, void *data)
{
	u32 number = (u32)(size_t)data;
	struct record *last = &ring[(head - 1) % RING];

	(void)cpu;
	began = *count;
	/* A loop of one block is one record. */
	if (head > 0 && last->kind == number && last->repeats < ~0U)
		last->repeats++;
	else
		note(began, RAN, number);
}

static void clock_is_read(u32 cpu, void *data)
{
	(void)cpu;
	note(began + (size_t)data, READ_CLOCK, current);
}

static u32 find_task(u64 address, const u8 *task)
{
	u32 pid = *(const u32 *)(task + asked.pid), tgid = *(const u32 *)(task + asked.tgid);
	const u8 *name = task + asked.comm;

	for (u32 i = task_count; i-- > 1;) {
		struct task *known = &tasks[i];

		if (known->address != address)
			continue;
		if (known->pid == pid && equal(known->name, name, sizeof(known->name)))
			return i;
		break; /* another thread in the same place, or with another name */
	}
	if (task_count == TASKS)
		return 0;
	tasks[task_count].address = address;
	tasks[task_count].pid = pid;
	tasks[task_count].tgid = tgid;
	memcpy(tasks[task_count].name, name, sizeof(tasks[task_count].name));
	return task_count++;
}

static u8 *memory_of(qemu_plugin_meminfo_t access, u64 address)
{
	return memory + qemu_plugin_hwaddr_phys_addr(qemu_plugin_get_hwaddr(access, address));
}

/* The first access to the next thread's task_struct, at this offset in it. */
static void next_is_read(u32 cpu, qemu_plugin_meminfo_t access, u64 address, void *data)
{
	static u64 before;
	size_t offset = (size_t)data;
	int is_second = asked.arm && address == before + 8;

	(void)cpu;
	/* A pair may be read in two accesses. */
	before = address;
	if (is_second)
		return;
	current = find_task(address - offset, memory_of(access, address) - offset);
	note(began, SWITCHED, current);
}

static int is_wanted(i64 release)
{
	u64 low = 0, high = asked.wanted_count;

	if (asked.all)
		return 1;
	while (low < high) {
		u64 middle = low + (high - low) / 2;

		if (asked.wanted[middle] == release)
			return 1;
		if (asked.wanted[middle] < release)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

/* Writes the blocks and tasks of the records from there on. */
static void put_what_ran(u64 from)
{
	for (u64 i = from; i < head; i++) {
		u32 kind = ring[i % RING].kind >> 28, value = ring[i % RING].kind & 0xfffffff;

		if (kind == RAN)
			put_block(value);
		else
			put_task(value);
	}
}

/* Writes all new blocks and tasks. If every wake-up is written, most are needed, and checking each record
 * would take longer. */
static void put_everything(void)
{
	static u32 block = 1, task = 1;

	for (; block <= blocks; block++)
		put_block(block);
	for (; task < task_count; task++)
		put_task(task);
}

/* Packs the records from there on for output; returns their size in bytes. */
static size_t pack(u64 from, u32 *to)
{
	u32 *begin = to;
	u64 next = ~0ULL;

	for (u64 i = from; i < head; i++) {
		struct record *record = &ring[i % RING];
		u32 kind = record->kind >> 28, value = record->kind & 0xfffffff;

		if (kind == RAN && record->repeats == 0 && record->count == next) {
			*to++ = (u32)FOLLOWS << 28 | value;
		} else {
			*to++ = record->kind;
			*to++ = record->repeats;
			*to++ = (u32)record->count;
			*to++ = (u32)(record->count >> 32);
		}
		if (kind == RAN)
			next = record->count + lengths[value] * (record->repeats + 1ULL);
	}
	return (size_t)(to - begin) * sizeof(*to);
}

static void put_window(i64 release, i64 clock)
{
	static u32 packed[4 * RING];
	size_t size;
	u64 need = (u64)(clock > release ? clock - release : 0) + BEFORE;
	u64 from = head > RING ? head - RING : 0;
	u32 first_task = 0;

	/* From the last wake-up before this release; the count never runs ahead of the clock, so this is early
	 * enough if the CPU slept. */
	for (u64 i = marked; i-- > 0 && marked - i <= MARKS;) {
		struct mark *mark = &marks[i % MARKS];

		if (mark->count + need > *count)
			continue;
		if (mark->position >= from) {
			from = mark->position;
			first_task = mark->task;
		}
		break;
	}
	if (asked.all)
		put_everything();
	else
		put_what_ran(from);
	put_task(first_task);
	put_task(current);
	size = pack(from, packed);
	put_head(WAKE, (u32)(32 + size));
	put64((u64)release);
	put64((u64)clock);
	put64(began);
	put32(first_task);
	put32(current);
	flush();
	write_out(packed, size);
	written++;
}

/* A measuring thread has woken and read the clock. */
static void wakes(u32 cpu, qemu_plugin_meminfo_t access, u64 address, void *data)
{
	const i64 *pair;

	(void)cpu;
	(void)data;
	/* A pair may be written in two accesses, and is complete after the second. */
	if (INTERFACE == 1 && address % 16 == 0)
		return;
	/* It is aligned to its size. */
	pair = (const i64 *)(memory_of(access, address) - address % 16);
	if (is_wanted(pair[0]))
		put_window(pair[0], pair[0] + pair[1]);
	marks[marked % MARKS].position = head;
	marks[marked % MARKS].count = began;
	marks[marked % MARKS].task = current;
	marked++;
}

/* Translation. */

static void read_bytes(struct qemu_plugin_insn *insn, u8 *to, size_t size)
{
#if INTERFACE == 1
	memcpy(to, qemu_plugin_insn_data(insn), size);
#else
	qemu_plugin_insn_data(insn, to, size);
#endif
}

static void count_it(struct qemu_plugin_insn *insn)
{
#if INTERFACE == 1
	qemu_plugin_register_vcpu_insn_exec_inline(insn, ADD, count, 1);
#else
	qemu_plugin_u64 to = { board, 0 };

	qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, ADD, to, 1);
#endif
}

static int is_user(u64 address)
{
	return address >> 63 == 0;
}

static int reads_clock(const u8 *code, size_t size)
{
	if (asked.arm) /* mrs xN, cntvct_el0 or cntvctss_el0 */
		return (*(const u32 *)code & 0xffffff60) == 0xd53be040;
	return (size == 2 && code[0] == 0x0f && code[1] == 0x31) ||
	       (size == 3 && code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9);
}

/* The instruction of crates/sys/src/mark.rs. */
static int is_mark(const u8 *code, size_t size)
{
	static const u8 prefixes[] = { 0x2e, 0x2e, 0x2e };

	if (asked.arm) /* stnp xN, xM, [xL] */
		return (*(const u32 *)code & 0xffff8000) == 0xa8000000;
	/* mov %N, 8(%M) */
	return size >= 7 && equal(code, prefixes, 3) && (code[3] & 0xf8) == 0x48 &&
	       code[4] == 0x89 && code[5] >> 6 == 1 && code[size - 1] == 8;
}

/* The offset at which this instruction of the switching function reads the next thread's
 * task_struct; 0 for others. */
static size_t next_offset(const u8 *code, size_t size)
{
	static u32 arm_offset;
	u32 word;

	memcpy(&word, code, 4);
	if (asked.arm) {
		if ((word & 0xffe0001f) == 0xd280000a) /* mov x10, #offset */
			arm_offset = word >> 5 & 0xffff;
		return word == 0xa8c15113 ? arm_offset : 0; /* ldp x19, x20, [x8], #16 */
	}
	if (size == 7 && (word & 0xffffff) == 0xa68b48) { /* mov offset(%rsi), %rsp */
		memcpy(&word, code + 3, 4);
		return word;
	}
	return 0;
}

static u32 find_block(u64 address, size_t instructions, const u8 *bytes, size_t size)
{
	u64 hash = address * 0x9e3779b97f4a7c15ULL;
	size_t all = instructions + size;
	struct block *block;

	for (size_t i = 0; i < all; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
	hash ^= hash >> 32;
	for (u64 slot = hash % HASHES;; slot = (slot + 1) % HASHES) {
		u32 number = hashes[slot];

		if (number == 0) {
			if (blocks + 1 >= BLOCKS || arena_used + sizeof(*block) + all + 8 > ARENA) {
				no_place++;
				return 0;
			}
			number = ++blocks;
			hashes[slot] = number;
			place[number] = arena_used;
			lengths[number] = (u16)instructions;
			block = block_of(number);
			block->address = address;
			block->hash = (u32)hash;
			block->instructions = (u16)instructions;
			block->size = (u32)size;
			memcpy(block->bytes, bytes, all);
			arena_used += (sizeof(*block) + all + 7) & ~7ULL;
			return number;
		}
		block = block_of(number);
		if (block->hash == (u32)hash && block->address == address &&
		    block->instructions == instructions && block->size == size &&
		    equal(block->bytes, bytes, all))
			return number;
	}
}

static void translated(u64 id, struct qemu_plugin_tb *tb)
{
	static u8 bytes[MOST_INSTRUCTIONS + LONGEST_BLOCK];
	size_t instructions = qemu_plugin_tb_n_insns(tb), size = 0;
	u64 address = qemu_plugin_tb_vaddr(tb);
	int switches = address >= asked.switch_at && address < asked.switch_at + 256;

	(void)id;
	if (instructions > MOST_INSTRUCTIONS)
		instructions = MOST_INSTRUCTIONS;
	for (size_t i = 0; i < instructions; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		size_t length = qemu_plugin_insn_size(insn), offset;
		u8 *code = bytes + instructions + size;

		if (length > 16)
			length = 16;
		read_bytes(insn, code, length);
		bytes[i] = (u8)length;
		size += length;
		count_it(insn);
		if (is_user(address)) {
			if (reads_clock(code, length))
				qemu_plugin_register_vcpu_insn_exec_cb(insn, clock_is_read,
								       NO_REGISTERS, (void *)i);
			if (is_mark(code, length))
				qemu_plugin_register_vcpu_mem_cb(insn, wakes, NO_REGISTERS,
								 READS_AND_WRITES, 0);
		} else if (switches && (offset = next_offset(code, length)) != 0) {
			memory = (u8 *)qemu_plugin_insn_haddr(insn) -
				 (qemu_plugin_insn_vaddr(insn) - asked.text);
			qemu_plugin_register_vcpu_mem_cb(insn, next_is_read, NO_REGISTERS,
							 READS_AND_WRITES, (void *)offset);
		}
	}
	qemu_plugin_register_vcpu_tb_exec_cb(tb, block_runs, NO_REGISTERS,
					     (void *)(size_t)find_block(address, instructions, bytes,
									size));
}

/* Begin and end. */

static void ends(u64 id, void *data)
{
	(void)id;
	(void)data;
	put_head(END, 32);
	put64(*count);
	put64(marked);
	put64(written);
	put64(no_place);
	flush();
}

#if INTERFACE != 1
static void cpu_starts(u64 id, u32 cpu)
{
	(void)id;
	if (cpu == 0)
		count = qemu_plugin_scoreboard_find(board, 0);
}
#endif

static const char *value_of(const char *argument, const char *name)
{
	while (*name)
		if (*argument++ != *name++)
			return 0;
	return *argument == '=' ? argument + 1 : 0;
}

static u64 number(const char *text)
{
	u64 value = 0;

	while (*text >= '0' && *text <= '9')
		value = value * 10 + (u64)(*text++ - '0');
	return value;
}

static int open_file(const char *path, int flags)
{
	enum { FROM_HERE = -100 };

	return (int)system_call(SYS_OPENAT, FROM_HERE, (long)path, flags, 0, 0, 0);
}

static int read_wanted(const char *path)
{
	enum { MOST = 1 << 24 };
	u8 *to = reserve(MOST);
	size_t size = 0;
	long got;
	int file = open_file(path, 0);

	if (file < 0 || !to)
		return -1;
	while ((got = system_call(SYS_READ, file, (long)(to + size), (long)(MOST - size), 0, 0, 0)) > 0)
		size += (size_t)got;
	asked.wanted = (const i64 *)to;
	asked.wanted_count = size / sizeof(i64);
	return got < 0 ? -1 : 0;
}

EXPORTED int qemu_plugin_install(u64 id, const qemu_info_t *info, int argc, char **argv)
{
	enum { WRITE_ONLY = 1 };
	const char *value;

	(void)info;
	asked.all = 1;
	asked.out = -1;
	for (int i = 0; i < argc; i++) {
		if ((value = value_of(argv[i], "out")))
			asked.out = open_file(value, WRITE_ONLY);
		else if ((value = value_of(argv[i], "guest")))
			asked.arm = value[0] == 'a';
		else if ((value = value_of(argv[i], "text")))
			asked.text = number(value);
		else if ((value = value_of(argv[i], "switch")))
			asked.switch_at = number(value);
		else if ((value = value_of(argv[i], "comm")))
			asked.comm = number(value);
		else if ((value = value_of(argv[i], "pid")))
			asked.pid = number(value);
		else if ((value = value_of(argv[i], "tgid")))
			asked.tgid = number(value);
		else if ((value = value_of(argv[i], "wanted"))) {
			asked.all = 0;
			if (read_wanted(value) < 0)
				return complain("replay: cannot read the wanted releases\n");
		} else
			return complain("replay: unknown argument\n");
	}
	if (asked.out < 0)
		return complain("replay: cannot open the output\n");
	arena = reserve(ARENA);
	if (!arena)
		return complain("replay: no memory\n");
#if INTERFACE != 1
	board = qemu_plugin_scoreboard_new(sizeof(u64));
	qemu_plugin_register_vcpu_init_cb(id, cpu_starts);
#endif
	put_head(HELLO, 8);
	put32(VERSION);
	put32(INTERFACE);
	flush();
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ends, 0);
	return 0;
}
