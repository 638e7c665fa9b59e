/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of QEMU's plugin interface that are used here, and replacements for a C library:
 * QEMU resolves the former when it loads the plugin, and the latter are system calls. */

#ifndef PLUGIN_H
#define PLUGIN_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
typedef __SIZE_TYPE__ size_t;

#define EXPORTED __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
typedef u32 qemu_plugin_meminfo_t;
typedef struct qemu_info qemu_info_t;

enum { NO_REGISTERS = 0 };
/* QEMU 7.2 makes no callback for reads alone. */
enum { READS_AND_WRITES = 3 };
enum { ADD = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(u64 id, void (*)(u64 id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *,
					  void (*)(u32 cpu, void *data), int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *,
					    void (*)(u32 cpu, void *data), int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *,
				      void (*)(u32 cpu, qemu_plugin_meminfo_t, u64 address,
					       void *data),
				      int flags, int accesses, void *data);
void qemu_plugin_register_vcpu_init_cb(u64 id, void (*)(u64 id, u32 cpu));
void qemu_plugin_register_atexit_cb(u64 id, void (*)(u64 id, void *data), void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
u64 qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
u64 qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t, u64 address);
u64 qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *);

/* Differences between the interfaces: the place of the count, and how an instruction's bytes are
 * read. Interface 1 is that of QEMU up to 8.2, interface 4 that of QEMU 10. */
#if INTERFACE == 1
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *, int op, void *to, u64 by);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
#elif INTERFACE == 4
struct qemu_plugin_scoreboard;
typedef struct {
	struct qemu_plugin_scoreboard *board;
	size_t offset;
} qemu_plugin_u64;
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t size);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *, u32 cpu);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *, int op,
							 qemu_plugin_u64 to, u64 by);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *, void *to, size_t size);
#else
#error "INTERFACE is 1 or 4"
#endif

#if defined(__x86_64__)
enum { SYS_READ = 0, SYS_WRITE = 1, SYS_OPENAT = 257, SYS_MMAP = 9, SYS_EXIT_GROUP = 231 };
static long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "+a"(number)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return number;
}
#elif defined(__aarch64__)
enum { SYS_READ = 63, SYS_WRITE = 64, SYS_OPENAT = 56, SYS_MMAP = 222, SYS_EXIT_GROUP = 94 };
static long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#else
#error "hosts are x86-64 and arm64"
#endif

/* The compiler may call these two whatever its options. */
void *memcpy(void *to, const void *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((volatile u8 *)to)[i] = ((const u8 *)from)[i];
	return to;
}

void *memset(void *to, int with, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((volatile u8 *)to)[i] = (u8)with;
	return to;
}

static int equal(const u8 *a, const u8 *b, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (a[i] != b[i])
			return 0;
	return 1;
}

static int complain(const char *text)
{
	size_t size = 0;

	while (text[size])
		size++;
	system_call(SYS_WRITE, 2, (long)text, (long)size, 0, 0, 0);
	return -1;
}

/* Memory that is zero when first used. */
static void *reserve(size_t size)
{
	enum { READ_WRITE = 3, PRIVATE_ANONYMOUS_NORESERVE = 0x4022 };
	long got = system_call(SYS_MMAP, 0, (long)size, READ_WRITE, PRIVATE_ANONYMOUS_NORESERVE, -1, 0);

	return got < 0 && got > -4096 ? 0 : (void *)got;
}

#endif
