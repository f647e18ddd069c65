/* SPDX-License-Identifier: MIT
 *
 * Stores of every width and kind, to every address that an attacker would try.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attack.h"

/* The address is in rax. */
static const struct {
	const char *hex, *what;
} stores[] = {
	/* plain */
	{"8800", "mov [rax], al"},
	{"668900", "mov [rax], ax"},
	{"8900", "mov [rax], eax"},
	{"488900", "mov [rax], rax"},
	{"48c70000000000", "mov qword [rax], 0"},
	{"48c700ffffffff", "mov qword [rax], -1"},
	{"480f38f100", "movbe [rax], rax"},
	{"0f9400", "sete [rax]"},
	{"8f00", "pop [rax]"},
	/* read and write */
	{"48830001", "add qword [rax], 1"},
	{"83400410", "add dword [rax + 4], 16"},
	{"48832800", "sub qword [rax], 0"},
	{"48f718", "neg qword [rax]"},
	{"48f710", "not qword [rax]"},
	{"48ff00", "inc qword [rax]"},
	{"48d120", "shl qword [rax], 1"},
	{"48c10807", "ror qword [rax], 7"},
	{"480fba2807", "bts qword [rax], 7"},
	{"480fab08", "bts [rax], rcx: bits far away"},
	{"480fbb08", "btc [rax], rcx"},
	{"480fa40805", "shld [rax], rcx, 5"},
	/* locked */
	{"488700", "xchg [rax], rax"},
	{"8600", "xchg [rax], al"},
	{"f0480fc108", "lock xadd [rax], rcx"},
	{"f048ff00", "lock inc qword [rax]"},
	{"f0480fb108", "lock cmpxchg [rax], rcx"},
	{"f0480fc708", "lock cmpxchg16b [rax]"},
	{"f00fc708", "lock cmpxchg8b [rax]"},
	{"f048014801", "lock add [rax + 1], rcx"},
	/* vectors */
	{"0f1100", "movups [rax], xmm0"},
	{"0f2900", "movaps [rax], xmm0"},
	{"0f1300", "movlps [rax], xmm0"},
	{"0f1700", "movhps [rax], xmm0"},
	{"660f7e00", "movd [rax], xmm0"},
	{"660f3a140000", "pextrb [rax], xmm0, 0"},
	{"c5fc1100", "vmovups [rax], ymm0"},
	{"c4e37d190001", "vextractf128 [rax], ymm0, 1"},
	{"62f17c481100", "vmovups [rax], zmm0"},
	{"0f7f00", "movq [rax], mm0"},
	/* masked, scattered, compressed */
	{"c4e27d2e10", "vmaskmovps [rax], ymm0, ymm2"},
	{"c4e2fd8e10", "vpmaskmovq [rax], ymm0, ymm2"},
	{"4889c7660ff7c1", "maskmovdqu [rdi]"},
	{"4889c70ff7c1", "maskmovq [rdi]"},
	{"62f27d49a00408", "vpscatterdd [rax + zmm1]{k1}"},
	{"62f2fd49a10408", "vpscatterqq [rax + zmm1]{k1}"},
	{"62f17e496f00", "vmovdqu32 zmm0{k1}, [rax]"},
	{"62f17e497f00", "vmovdqu32 [rax]{k1}, zmm0"},
	{"62f27d498b00", "vpcompressd [rax]{k1}, zmm0"},
	/* non-temporal and direct */
	{"480fc300", "movnti [rax], rax"},
	{"0f2b00", "movntps [rax], xmm0"},
	{"660fe700", "movntdq [rax], xmm0"},
	{"0fe700", "movntq [rax], mm0"},
	{"c5fde700", "vmovntdq [rax], ymm0"},
	{"480f38f900", "movdiri [rax], rax"},
	{"660f38f800", "movdir64b [rax], [rax]"},
	{"0f01fc", "clzero"},
	/* state */
	{"0fae00", "fxsave [rax]"},
	{"480fae00", "fxsave64 [rax]"},
	{"31d20fae20", "xsave [rax]"},
	{"31d24883e0c0480fae20", "xsave64 [rax & -64]"},
	{"31d20fae30", "xsaveopt [rax]"},
	{"31d20fc720", "xsavec [rax]"},
	{"31d20fc728", "xsaves [rax]"},
	{"dd30", "fnsave [rax]"},
	{"d930", "fnstenv [rax]"},
	{"db38", "fstp tbyte [rax]"},
	{"d938", "fnstcw [rax]"},
	{"dd38", "fnstsw [rax]"},
	{"0fae18", "stmxcsr [rax]"},
	{"df38", "fistp qword [rax]"},
	{"0f0100", "sgdt [rax]"},
	{"0f0108", "sidt [rax]"},
	{"0f0000", "sldt [rax]"},
	{"0f0008", "str [rax]"},
	{"0f0120", "smsw [rax]"},
	{"8c18", "mov [rax], ds"},
	{"0f38f608", "wrssd [rax], ecx"},
	{"66480f38f508", "wrussq [rax], rcx"},
	{"f30fae30", "ptwrite or clrssbsy [rax]"},
	/* strings */
	{"4889c7fcb908000000f348ab", "rep stosq of 64 bytes"},
	{"4889c7fc4883c9fff3aa", "rep stosb without end"},
	{"4889c7fd4883c9fff3aafc", "rep stosb without end, downwards"},
	{"4889c7be00563412fcb940000000f3a4", "rep movsb"},
	{"4889c74889c6fcb900100000f348a5", "rep movsq onto itself"},
	{"4889c766fcaa", "stosb with a prefix"},
	/* through the stack */
	{"4889c450", "mov rsp, rax; push rax"},
	{"4889c49c", "mov rsp, rax; pushfq"},
	{"4889c4c8100001", "mov rsp, rax; enter 16, 1"},
	{"4889c4c800001f", "mov rsp, rax; enter 0, 31"},
	{"48944894", "xchg rsp, rax twice"},
	{"4889c40fa0", "mov rsp, rax; push fs"},
	{"4889c4ff30", "mov rsp, rax; push [rax]"},
	{"4889c466 50", "mov rsp, rax; push ax"},
	/* hints that need a right to write */
	{"0fae38", "clflush [rax]"},
	{"660fae38", "clflushopt [rax]"},
	{"660fae30", "clwb [rax]"},
	{"0f1c00", "cldemote [rax]"},
	{"0f0d08", "prefetchw [rax]"},
	{"0f18 38", "a hint that is reserved"},
};

void attack_stores(struct attack_sink *sink)
{
	static struct attack a;
	const struct attack_place *p;

	a.code.size = 0;
	for (unsigned i = 0; (p = attack_place(i)); i++)
		for (unsigned k = 0; k < ARRAY_SIZE(stores); k++) {
			code_place(&a.code, RAX, p);
			code_hex(&a.code, stores[k].hex);
			code_chain(&a.code);
			a.facts = ATTACK_CHAIN;
			attack_put(sink, &a, "%s to %s", stores[k].what, p->name);
		}
}
