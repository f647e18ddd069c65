/* SPDX-License-Identifier: MIT
 *
 * Lines of products and the cores in them: what a CPU's numbers and a compiler's names mean, whether
 * there is a model of the core or not.  A core gets a model by a file data/arch/<model>.arch; nothing
 * changes here.
 *
 * Where the facts come from:
 * - families and models: Linux, arch/x86/include/asm/intel-family.h and arch/x86/kernel/cpu/amd.c
 *   (which gives AMD's as ranges of models), and the vendors' processor programming references
 * - names of compilers: the manuals of GCC ("x86 Options") and of clang (--print-supported-cpus)
 * - names of lines and their cores: the vendors' product pages (ark.intel.com, amd.com)
 */
#include "base/base.h"
#include "isa/x86/x86.h"

#define BEFORE "a predecessor"
#define AFTER  "a successor"

const struct isa_cpu_line x86_cpu_lines[] = {
	/* clang-format off */
	/* code, line, vendor, core, model, nearest, what the nearest is, names, family-model */
	{"SNB", "Sandy Bridge", "Intel", "", "SNB", "", "",
	 "sandybridge corei7-avx sandybridge-e sandybridge-ep", "6-42 6-45"},
	{"IVB", "Ivy Bridge", "Intel", "", "IVB", "", "",
	 "ivybridge core-avx-i ivybridge-e ivybridge-ep ivytown", "6-58 6-62"},
	{"HSW", "Haswell", "Intel", "", "HSW", "", "",
	 "haswell core-avx2 haswell-e haswell-ep crystalwell", "6-60 6-63 6-69 6-70"},
	{"BDW", "Broadwell", "Intel", "", "BDW", "", "",
	 "broadwell broadwell-e broadwell-ep broadwell-de bdx", "6-61 6-71 6-79 6-86"},
	{"SKL", "Skylake", "Intel", "", "SKL", "", "", "skylake skylake-client", "6-78 6-94"},
	{"SKX", "Skylake server", "Intel", "", "SKX", "", "",
	 "skylake-avx512 skylake-sp skylake-x skylake-server", "6-85:0-4"},
	{"KBL", "Kaby Lake", "Intel", "", "KBL", "", "",
	 "kabylake kabylake-r whiskeylake amberlake whl aml", "6-142 6-158:0-9"},
	{"CFL", "Coffee Lake", "Intel", "", "CFL", "", "", "coffeelake coffeelake-r", "6-158:10-15"},
	{"CML", "Comet Lake", "Intel", "Coffee Lake", "CFL", "", "", "cometlake", "6-165 6-166"},
	{"CLX", "Cascade Lake", "Intel", "", "CLX", "", "", "cascadelake cascadelake-x csl csx", "6-85:5-7"},
	{"CPX", "Cooper Lake", "Intel", "", "CPX", "CLX", "the same core but for bfloat16",
	 "cooperlake cooperlake-sp cpl", "6-85:10-11"},
	{"CNL", "Cannon Lake", "Intel", "Palm Cove", "CNL", "SKX", "a predecessor with the same vectors",
	 "cannonlake palmcove", "6-102"},
	{"ICL", "Ice Lake client", "Intel", "Sunny Cove", "ICL", "", "",
	 "icelake-client icelake sunnycove", "6-125 6-126"},
	{"ICX", "Ice Lake server", "Intel", "Sunny Cove", "ICX", "", "",
	 "icelake-server icelake-sp icelake-d", "6-106 6-108"},
	{"TGL", "Tiger Lake", "Intel", "Willow Cove", "TGL", "", "", "tigerlake willowcove", "6-140 6-141"},
	{"RKL", "Rocket Lake", "Intel", "Cypress Cove", "RKL", "", "", "rocketlake cypresscove", "6-167"},
	{"LKF", "Lakefield", "Intel", "Sunny Cove and Tremont", "LKF", "ICL", "its large core", "lakefield",
	 "6-138"},
	{"ADL", "Alder Lake", "Intel", "Golden Cove", "GLC", "TGL", BEFORE,
	 "alderlake adl-p adl-s goldencove", "6-151 6-154"},
	{"RPL", "Raptor Lake", "Intel", "Golden Cove", "GLC", "TGL", BEFORE,
	 "raptorlake raptorcove rpl-s rpl-p", "6-183 6-186 6-191"},
	{"SPR", "Sapphire Rapids", "Intel", "Golden Cove", "GLC", "ICX", BEFORE,
	 "sapphirerapids", "6-143"},
	{"EMR", "Emerald Rapids", "Intel", "Golden Cove", "GLC", "ICX", BEFORE,
	 "emeraldrapids", "6-207"},
	{"GNR", "Granite Rapids", "Intel", "Redwood Cove", "RWC", "GLC ICX", BEFORE,
	 "graniterapids graniterapids-d", "6-173 6-174"},
	{"MTL", "Meteor Lake", "Intel", "Redwood Cove", "RWC", "GLC TGL", BEFORE,
	 "meteorlake redwoodcove mtl-p", "6-170 6-172 6-181"},
	{"ARL", "Arrow Lake", "Intel", "Lion Cove", "LNC", "GLC TGL", BEFORE,
	 "arrowlake arrowlake-s arl-p lioncove", "6-197 6-198"},
	{"LNL", "Lunar Lake", "Intel", "Lion Cove", "LNC", "GLC TGL", BEFORE, "lunarlake", "6-189"},
	{"PTL", "Panther Lake", "Intel", "Cougar Cove", "CGC", "LNC GLC TGL", BEFORE,
	 "pantherlake cougarcove wildcatlake", "6-204 6-213"},
	{"NVL", "Nova Lake", "Intel", "Coyote Cove", "CYC", "LNC GLC TGL", BEFORE, "novalake coyotecove",
	 "18-1 18-3"},
	{"DMR", "Diamond Rapids", "Intel", "Panther Cove", "PNC", "LNC GLC ICX", BEFORE,
	 "diamondrapids panthercove", "19-1"},
	{"NHM", "Nehalem and Westmere", "Intel", "Nehalem", "NHM", "SNB", AFTER,
	 "nehalem westmere corei7 gulftown bloomfield wsm", "6-26 6-30 6-31 6-46 6-37 6-44 6-47"},
	{"CON", "Core 2", "Intel", "", "CON", "SNB", AFTER,
	 "core2 penryn merom conroe wolfdale yorkfield wol", "6-15 6-22 6-23 6-29"},
	{"BNL", "Bonnell", "Intel", "", "BNL", "", "", "bonnell atom saltwell", "6-28 6-38 6-39 6-53 6-54"},
	{"SLM", "Silvermont", "Intel", "", "SLM", "", "", "silvermont slm airmont amt",
	 "6-55 6-77 6-74 6-76 6-90 6-117"},
	{"GLM", "Goldmont", "Intel", "", "GLM", "", "",
	 "goldmont goldmont-plus apollolake geminilake glp", "6-92 6-95 6-122"},
	{"TRM", "Tremont", "Intel", "", "TRM", "", "", "tremont snowridge elkhartlake jasperlake tnt",
	 "6-134 6-150 6-156"},
	{"GRT", "Gracemont", "Intel", "", "GRT", "", "", "gracemont alderlake-n alderlake-e adl-e adl-n", "6-190"},
	{"SRF", "Sierra Forest", "Intel", "Crestmont", "CMT", "", "",
	 "sierraforest grandridge crestmont", "6-175 6-182"},
	{"CWF", "Clearwater Forest", "Intel", "Darkmont", "DKM", "", "",
	 "clearwaterforest darkmont skymont", "6-221"},
	{"KNL", "Knights Landing", "Intel", "Silvermont with AVX-512", "KNL", "", "",
	 "knl knm knightsmill mic-avx512", "6-87 6-133"},

	{"ZEN+", "Zen+", "AMD", "", "ZEN+", "ZEN2 ZEN3 ZEN4", AFTER,
	 "zenplus znver1+ pinnacleridge picasso colfax", "23-8 23-24"},
	{"ZEN1", "Zen", "AMD", "", "ZEN1", "ZEN+ ZEN2 ZEN3 ZEN4", AFTER,
	 "znver1 zen1 naples summitridge ravenridge", "23-0..47 23-80..95"},
	{"ZEN2", "Zen 2", "AMD", "", "ZEN2", "ZEN3 ZEN4", AFTER,
	 "znver2 rome matisse renoir lucienne castlepeak mendocino vangogh",
	 "23-48..79 23-96..127 23-132 23-144..145 23-152 23-160..175"},
	{"ZEN3", "Zen 3", "AMD", "", "ZEN3", "ZEN4", AFTER,
	 "znver3 milan milan-x vermeer cezanne rembrandt chagall barcelo zen3+ warhol trento",
	 "25-0..15 25-32..95"},
	{"ZEN4", "Zen 4", "AMD", "", "ZEN4", "", "",
	 "znver4 genoa genoa-x bergamo siena raphael phoenix hawkpoint dragonrange stormpeak zen4c",
	 "25-16..31 25-96..175"},
	{"ZEN5", "Zen 5", "AMD", "", "ZEN5", "ZEN4", BEFORE,
	 "znver5 turin turin-dense graniteridge strixpoint strixhalo krackan shimadapeak zen5c",
	 "26-0..47 26-64..79 26-96..127"},
	{"ZEN6", "Zen 6", "AMD", "", "ZEN6", "ZEN5 ZEN4", BEFORE, "znver6 venice medusa",
	 "26-80..95 26-128..175 26-192..207"},
	{"BDVER", "Bulldozer to Excavator", "AMD", "Bulldozer's family", "BDVER", "", "",
	 "bdver1 bdver2 bdver3 bdver4 bulldozer piledriver steamroller excavator", "21-0..127"},
	{"BTVER", "Bobcat and Jaguar", "AMD", "Bobcat's family", "BTVER", "", "",
	 "btver1 btver2 bobcat jaguar puma", "20-0..15 22-0..63"},
	{"K10", "K8 and K10", "AMD", "K8's family", "K10", "", "",
	 "k8 k8-sse3 athlon64 opteron amdfam10 barcelona athlon-fx", "16-0..15 17-0..15 18-0"},

	/* Levels of the instruction set: no CPUs, but compilers are asked for them. */
	{"generic", "", "", "", "SKL", "", "", "x86-64 x86-64-v2 x86-64-v3", ""},
	{"x86-64-v4", "", "", "", "SKX", "", "", "", ""},
	/* clang-format on */
};

const size_t x86_n_cpu_lines = ARRAY_SIZE(x86_cpu_lines);
