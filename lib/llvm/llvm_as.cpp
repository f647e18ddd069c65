// SPDX-License-Identifier: MIT
//
// The program tact_llvm_as: LLVM's assembler, for texts of strangers.  A text can repeat itself without
// end, ask for more memory than there is, or nest until the stack is full: in a process of its own, which
// the library puts into a box, that ends this program and no other.
//
// usage: tact_llvm_as TRIPLE FEATURES FILE
//
// Reads the text from standard input and writes an ELF object to FILE.  The first error is a line on
// standard output, as GNU as writes it; the exit status is 1 then.
#include <cstdio>
#include <new>
#include <unistd.h>

#include "llvm/shim.hpp"

namespace
{

struct assembly {
	std::string triple, features;
	const Target *target = nullptr;
	MCTargetOptions options;
	SourceMgr sources;
	SmallVector<char, 0> object;
	bool has_failed = false;
};

// Only the first one counts: what follows may be its consequence.
void complain(assembly &a, unsigned line, const std::string &text)
{
	if (!a.has_failed)
		printf("{standard input}:%u: Error: %s\n", line, text.c_str());
	a.has_failed = true;
}

[[noreturn]] void leave(const std::string &text)
{
	printf("%s\n", text.c_str());
	fflush(stdout);
	_exit(1);
}

void on_diagnostic(const SMDiagnostic &diagnostic, void *context)
{
	if (diagnostic.getKind() == SourceMgr::DK_Error)
		complain(*static_cast<assembly *>(context),
			 (unsigned)std::max(diagnostic.getLineNo(), 0),
			 diagnostic.getMessage().str());
}

void on_fatal(void *, const char *reason, bool)
{
	leave(std::string("{standard input}:0: Error: ") + (reason ? reason : "LLVM gave up"));
}

void on_bad_alloc(void *, const char *, bool)
{
	static const char text[] = "out of memory\n"; // printf may need some

	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 1 : 2);
}

void on_no_memory()
{
	on_bad_alloc(nullptr, nullptr, false);
}

bool assemble(assembly &a)
{
	const Triple triple(a.triple);
	raw_svector_ostream stream(a.object);
	std::unique_ptr<MCRegisterInfo> registers(a.target->createMCRegInfo(TRIPLE(a.triple)));
	std::unique_ptr<MCAsmInfo> syntax(
		a.target->createMCAsmInfo(*registers, TRIPLE(a.triple), a.options));
	std::unique_ptr<MCInstrInfo> infos(a.target->createMCInstrInfo());
	std::unique_ptr<MCSubtargetInfo> subtarget(
		a.target->createMCSubtargetInfo(TRIPLE(a.triple), "", ""));
	const std::string known = shim::known_features(*subtarget, a.features);

	subtarget.reset(a.target->createMCSubtargetInfo(TRIPLE(a.triple), "", known));
	MCContext context(triple, syntax.get(), registers.get(), subtarget.get(), &a.sources,
			  &a.options);
	std::unique_ptr<MCObjectFileInfo> files(a.target->createMCObjectFileInfo(context, false));
	context.setObjectFileInfo(files.get());
	context.setDiagnosticHandler(
		[&](const SMDiagnostic &diagnostic, bool, const SourceMgr &,
		    std::vector<const MDNode *> &) { on_diagnostic(diagnostic, &a); });
	// A line table of the text itself, unless it brings one.
	context.setGenDwarfForAssembly(true);
	context.setDwarfVersion(5);
	std::unique_ptr<MCAsmBackend> backend(
		a.target->createMCAsmBackend(*subtarget, *registers, a.options));
	std::unique_ptr<MCCodeEmitter> emitter(a.target->createMCCodeEmitter(*infos, context));
	auto writer = backend->createObjectWriter(stream);
	std::unique_ptr<MCStreamer> streamer(a.target->createMCObjectStreamer(
		triple, context, std::move(backend), std::move(writer), std::move(emitter),
		*subtarget));
	std::unique_ptr<MCAsmParser> parser(
		createMCAsmParser(a.sources, context, *streamer, *syntax));
	std::unique_ptr<MCTargetAsmParser> of_target(
		a.target->createMCAsmParser(*subtarget, *parser, *infos, a.options));

	if (!of_target)
		leave("LLVM has no assembler for " + a.triple);
	parser->setTargetParser(*of_target);
	if (parser->Run(false))
		complain(a, 0, "LLVM gave no reason");
	return !a.has_failed;
}

bool write_object(const assembly &a, const char *path)
{
	FILE *f = fopen(path, "wb");
	const bool is_written =
		f && fwrite(a.object.data(), 1, a.object.size(), f) == a.object.size();

	return f && !fclose(f) && is_written;
}

} // namespace

int main(int argc, char **argv)
{
	assembly a;
	std::string reason;

	if (argc != 4)
		leave("usage: tact_llvm_as TRIPLE FEATURES FILE");
	std::set_new_handler(on_no_memory);
	install_fatal_error_handler(on_fatal);
	install_bad_alloc_error_handler(on_bad_alloc);
	InitializeAllTargetInfos();
	InitializeAllTargetMCs();
	InitializeAllAsmParsers();
	a.triple = argv[1];
	a.features = argv[2];
	a.target = look_up(a.triple, reason);
	if (!a.target)
		leave(reason);
	auto text = MemoryBuffer::getSTDIN();
	if (!text)
		leave(text.getError().message());
	a.sources.AddNewSourceBuffer(std::move(*text), SMLoc());
	a.sources.setDiagHandler(on_diagnostic, &a);
	if (!assemble(a))
		return 1;
	if (!write_object(a, argv[3]))
		leave(std::string("cannot write the object: ") + strerror(errno));
	return 0;
}
