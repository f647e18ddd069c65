/* SPDX-License-Identifier: MIT
 *
 * libtact for C++17: handles that destroy themselves, failures that are exceptions.  Header only;
 * everything else is the C interface, whose functions take the handles' get().
 *
 *	tact::block block("SKL");
 *	block.load(code);
 *	double cycles = block.predict().cycles_per_iteration;
 */
#ifndef TACT_TACT_HPP
#define TACT_TACT_HPP

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <tact/tact.h>

namespace tact
{

/* A call that failed, with its status (-TACT_E_*) and where it was. */
class error : public std::runtime_error
{
	int status_;
	tact_diag where_;

      public:
	error(int status, const tact_diag &diag)
	    : std::runtime_error(diag.text[0] ? diag.text : tact_strerror(status)), status_(status),
	      where_(diag)
	{
	}
	int status() const noexcept
	{
		return status_;
	}
	std::uint64_t line() const noexcept
	{
		return where_.line;
	}
	std::uint64_t offset() const noexcept
	{
		return where_.offset;
	}
};

/* Throws what a status says if it is below 0; returns it otherwise. */
inline int check(int status, const tact_diag &diag = tact_diag())
{
	if (status < 0)
		throw error(status, diag);
	return status;
}

template <typename T, void (*destroy)(T *)> struct destroyer {
	void operator()(T *handle) const noexcept
	{
		destroy(handle);
	}
};

/* Owns a handle of the C interface. */
template <typename T, void (*destroy)(T *)> using owner = std::unique_ptr<T, destroyer<T, destroy>>;

/* The model of a CPU by its name; throws if there is none. */
inline const tact_arch *find_arch(const std::string &name)
{
	const tact_arch *arch = tact_arch_find(name.c_str());

	if (!arch) {
		tact_diag diag = tact_diag();
		const std::string text = "there is no model of '" + name + "'";

		text.copy(diag.text, sizeof(diag.text) - 1);
		throw error(-TACT_E_NO_ARCH, diag);
	}
	return arch;
}

/* A block on one CPU.  One thread at a time; reuse it, it remembers decoded instructions. */
class block
{
	owner<tact_block, tact_block_destroy> handle;

      public:
	explicit block(const tact_arch *arch, const tact_block_options *options = nullptr)
	{
		tact_diag diag = tact_diag();
		tact_block *made = nullptr;

		check(tact_block_create(&made, arch, options, &diag), diag);
		handle.reset(made);
	}
	explicit block(const std::string &arch, const tact_block_options *options = nullptr)
	    : block(find_arch(arch), options)
	{
	}
	tact_block *get() const noexcept
	{
		return handle.get();
	}
	void load(const void *code, std::size_t size)
	{
		tact_diag diag = tact_diag();

		check(tact_block_load(get(), static_cast<const std::uint8_t *>(code), size, &diag),
		      diag);
	}
	void load(const std::vector<std::uint8_t> &code)
	{
		load(code.data(), code.size());
	}
	std::size_t size() const noexcept
	{
		return tact_block_length(get());
	}
	tact_prediction predict(const tact_predict_options *options = nullptr)
	{
		tact_prediction prediction = TACT_SIZED(tact_prediction);

		check(tact_predict(get(), options, &prediction));
		return prediction;
	}
};

/* A pipeline, for any number of blocks of any CPU. */
class simulator
{
	owner<tact_simulator, tact_simulator_destroy> handle;

      public:
	simulator()
	{
		tact_diag diag = tact_diag();
		tact_simulator *made = nullptr;

		check(tact_simulator_create(&made, &diag), diag);
		handle.reset(made);
	}
	tact_simulator *get() const noexcept
	{
		return handle.get();
	}
	/* `bounds` of the result belong to the simulator, until its next run. */
	tact_simulation run(const block &of, const tact_sim_options *options = nullptr)
	{
		tact_simulation simulation = TACT_SIZED(tact_simulation);

		check(tact_simulate(get(), of.get(), options, &simulation));
		return simulation;
	}
};

/* Measures blocks on this machine. */
class harness
{
	owner<tact_harness, tact_harness_destroy> handle;

      public:
	explicit harness(const tact_measure_options *options = nullptr)
	{
		tact_diag diag = tact_diag();
		tact_harness *made = nullptr;

		check(tact_harness_create(&made, options, &diag), diag);
		handle.reset(made);
	}
	tact_harness *get() const noexcept
	{
		return handle.get();
	}
	/* The status of the result says whether it has a number. */
	tact_measurement measure(const std::vector<std::uint8_t> &code)
	{
		tact_measurement measurement = TACT_SIZED(tact_measurement);

		check(tact_measure(get(), code.data(), code.size(), &measurement));
		return measurement;
	}
};

} // namespace tact

#endif /* TACT_TACT_HPP */
