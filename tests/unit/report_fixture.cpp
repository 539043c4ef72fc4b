// SPDX-License-Identifier: Apache-2.0
#include "report_fixture.hpp"

#include "explain/explain.hpp"
#include "model/kernel_name.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace perfgate::report {

namespace {

using model::CaseResult;
using model::CaseStatus;
using model::CaseVerdict;
using model::MetricVerdict;
using model::Verdict;

model::Environment h100() {
    model::Environment environment;
    environment.device.key = "nvidia-h100-80gb-hbm3";
    environment.device.name = "NVIDIA H100 80GB HBM3";
    environment.device.chip = "GH100";
    environment.device.compute_capability = "9.0";
    environment.device.memory_bytes = std::uint64_t{80} << 30U;
    environment.device.board = "b0a7d";
    environment.device.multiprocessors = 132;
    environment.driver = "580.159.04";
    environment.cuda_driver = "13.0";
    environment.cuda_toolkit = "13.0";
    environment.cupti = "130001";
    environment.os = "Ubuntu 24.04";
    environment.ceilings = {2.8e12, {{"bf16", 7e14}, {"f32", 5e13}}, ""};
    return environment;
}

model::CaseSpec gemm(const std::string& variant, std::int64_t size) {
    model::CaseSpec spec;
    spec.workload = "gemm";
    spec.variant = variant;
    spec.params = {{"dtype", std::string("f32")}, {"k", size}, {"m", size}, {"n", size}};
    return spec;
}

model::MetricSeries series(const std::string& unit, double value, const std::string& method) {
    return {unit, value, method, {{0, "b0a7d", 7, {value, value, value}}}};
}

MetricVerdict judged(const std::string& metric, const std::string& unit, Verdict verdict,
                     double baseline, double measured, const std::string& tolerance,
                     const std::string& sentence) {
    MetricVerdict judged;
    judged.metric = metric;
    judged.unit = unit;
    judged.verdict = verdict;
    judged.baseline = baseline;
    judged.measured = measured;
    judged.change = (measured - baseline) / baseline;
    judged.tolerance = tolerance;
    judged.sentence = sentence;
    return judged;
}

MetricVerdict only_measured(const std::string& metric, const std::string& unit, double measured) {
    MetricVerdict verdict;
    verdict.metric = metric;
    verdict.unit = unit;
    verdict.verdict = Verdict::no_baseline;
    verdict.measured = measured;
    verdict.tolerance = "3 %";
    verdict.sentence = metric + " has no baseline";
    return verdict;
}

/// A case and its verdict, which share the id.
struct Pair {
    CaseResult result;
    CaseVerdict verdict;
};

Pair make_case(const model::CaseSpec& spec, std::int64_t line, CaseStatus status, Verdict verdict,
               const std::string& reason) {
    Pair pair;
    pair.result.spec = spec;
    pair.result.place = {"suites/gemm.yaml", line};
    pair.result.status = status;
    pair.result.wall_s = 0.25;
    if (status != CaseStatus::measured) pair.result.reason = reason;
    pair.verdict.workload = spec.workload;
    pair.verdict.id = model::case_id(spec);
    pair.verdict.place = pair.result.place;
    pair.verdict.verdict = verdict;
    pair.verdict.reason = reason;
    pair.verdict.wall_s = 0.25;
    return pair;
}

Pair timed(const model::CaseSpec& spec, std::int64_t line, Verdict verdict, double baseline_ns,
           double measured_ns, const std::string& sentence) {
    Pair pair = make_case(spec, line, CaseStatus::measured, verdict,
                          verdict == Verdict::pass ? "" : sentence);
    pair.result.metrics["gpu_time"] = series("ns", measured_ns, "activity/cold");
    // The tests' cases all run at 40 Tflop/s: a number that a GPU reaches.
    pair.result.metrics["achieved_flops"] = series("flop/s", 4e13, "counter/cold");
    pair.result.metrics["registers"] = series("registers", 96, "record");
    pair.verdict.metrics = {
        judged("gpu_time", "ns", verdict, baseline_ns, measured_ns, "3 %", sentence),
        judged("registers", "registers", Verdict::pass, 96, 96, "0 %",
               "registers passed: 96 → 96 (0.0 %), tolerance 0 %")};
    return pair;
}

void add(model::SuiteResult& suite, model::SuiteVerdict& verdicts, Pair pair) {
    suite.cases.push_back(std::move(pair.result));
    verdicts.cases.push_back(std::move(pair.verdict));
}

void describe(Documents& documents, const model::Environment& environment,
              const std::string& backend) {
    documents.run.tool_version = "0.1.0";
    documents.run.git_revision = "4f2a9c1";
    documents.run.started_at = "2026-11-21T10:00:00Z";
    documents.run.wall_s = 12.5;
    documents.run.backend = backend;
    documents.run.environment = environment;
    documents.verdict.tool_version = documents.run.tool_version;
    documents.verdict.started_at = documents.run.started_at;
    documents.verdict.wall_s = documents.run.wall_s;
    documents.verdict.backend = backend;
    documents.verdict.environment = environment;
}

void add_gemm(Documents& documents) {
    model::SuiteResult& suite = documents.run.suites.emplace_back();
    model::SuiteVerdict& verdicts = documents.verdict.suites.emplace_back();
    suite.name = verdicts.name = "gemm";
    suite.file = verdicts.file = "suites/gemm.yaml";
    verdicts.baseline_file = "baselines/nvidia-h100-80gb-hbm3/gemm.json";
    verdicts.notes = {"driver changed since the baseline: 570.86.15 → 580.159.04"};

    Pair shown = timed(gemm("tiled", 1024), 12, Verdict::pass, 60000, 60120,
                       "gpu_time passed: 60.00 µs → 60.12 µs (+0.2 %, 95 % interval -0.1 % to "
                       "+0.5 %), tolerance 3 %");
    // The run's median is not what the gate judges.
    shown.result.metrics["gpu_time"].value = 60500;
    shown.verdict.metrics[0].interval = model::ChangeInterval{-0.001, 0.005, 0.95};
    shown.verdict.metrics[0].minimum_detectable_change = 0.0412;
    add(suite, verdicts, shown);
    add(suite, verdicts,
        timed(gemm("tiled", 4096), 12, Verdict::pass, 2.812e6, 2.8e6,
              "gpu_time passed: 2.812 ms → 2.800 ms (-0.4 %), tolerance 3 %"));
    Pair faster = timed(gemm("cublas", 4096), 12, Verdict::improved, 2.6e6, 2.3e6,
                        "gpu_time improved: 2.600 ms → 2.300 ms (-11.5 %), tolerance 3 %");
    faster.verdict.why = {{"instructions",
                           "fewer instructions for the same work: instructions 1000000 → 880000 "
                           "(-12.0 %)",
                           {{"instructions", "count", 1e6, 8.8e5}},
                           "fewer instructions for the same work (-12.0 %)"}};
    add(suite, verdicts, faster);
    add(suite, verdicts,
        make_case(gemm("tensor_core", 4096), 12, CaseStatus::skipped, Verdict::skipped,
                  "needs compute capability 10.0; this device has 9.0"));

    Pair fresh = make_case(gemm("tiled", 512), 30, CaseStatus::measured, Verdict::no_baseline,
                           "no baseline for this case: accept its values with 'perfgate baseline "
                           "refresh'");
    fresh.result.metrics["gpu_time"] = series("ns", 12345.678, "activity/cold");
    fresh.verdict.metrics = {only_measured("gpu_time", "ns", 12345.678)};
    add(suite, verdicts, fresh);

    Pair unclear = timed(gemm("naive", 512), 12, Verdict::inconclusive, 100000, 103500,
                         "gpu_time is inconclusive: 100.0 µs → 103.5 µs (+3.5 %), tolerance 3 %");
    unclear.verdict.doubt = unclear.verdict.metrics[0].doubt = model::Doubt::unclear;
    add(suite, verdicts, unclear);
    Pair not_shown = timed(gemm("naive", 576), 12, Verdict::inconclusive, 100000, 101000,
                           "gpu_time is inconclusive: 100.0 µs → 101.0 µs (+1.0 %, 95 % interval "
                           "-2.1 % to +4.2 %), tolerance 3 %; not shown to be within the "
                           "tolerance");
    not_shown.verdict.doubt = not_shown.verdict.metrics[0].doubt = model::Doubt::not_shown;
    not_shown.verdict.metrics[0].interval = model::ChangeInterval{-0.021, 0.042, 0.95};
    add(suite, verdicts, not_shown);
    add(suite, verdicts,
        make_case(gemm("naive", 640), 12, CaseStatus::measured, Verdict::invalid,
                  "the clocks were throttled (power cap): let the board cool down and run again"));

    Pair uncounted = timed(gemm("naive", 768), 12, Verdict::pass, 200000, 200100,
                           "gpu_time passed: 200.0 µs → 200.1 µs (+0.1 %), tolerance 3 %");
    uncounted.verdict.verdict = Verdict::not_collected;
    uncounted.result.metrics.erase("achieved_flops");
    uncounted.result.not_collected = {
        {"dram_bytes", "no permission for counters: see 'perfgate doctor'"}};
    MetricVerdict missing;
    missing.metric = "dram_bytes";
    missing.unit = "bytes";
    missing.verdict = Verdict::not_collected;
    missing.sentence =
        "dram_bytes was not collected: no permission for counters: see 'perfgate doctor'";
    uncounted.verdict.reason = missing.sentence;
    uncounted.verdict.metrics.push_back(missing);
    add(suite, verdicts, uncounted);

    Pair crashed = make_case(gemm("naive", 896), 12, CaseStatus::error, Verdict::error,
                             "the worker died of signal 11 (SIGSEGV) while it verified");
    crashed.verdict.log = crashed.result.log =
        "loading plugin gemm.so\n\x1b[31mfatal:\x1b[0m bad access <at> 0x0 ]]> & more\n";
    add(suite, verdicts, crashed);

    Pair wrong = make_case(gemm("naive", 1024), 12, CaseStatus::incorrect, Verdict::incorrect,
                           "verification failed: c[3,5] is 1.5, expected 1.25");
    wrong.result.verification =
        model::Verification{false, 99, "c[3,5] is 1.5, expected 1.25; seed 99"};
    add(suite, verdicts, wrong);

    Pair slower = timed(gemm("tiled", 2048), 12, Verdict::regressed, 400000, 444400,
                        "gpu_time regressed: 400.0 µs → 444.4 µs (+11.1 %), tolerance 3 %");
    slower.verdict.metrics[1] = judged("registers", "registers", Verdict::regressed, 96, 128, "0 %",
                                       "registers regressed: 96 → 128 (+33.3 %), tolerance 0 %");
    slower.result.metrics["registers"] = series("registers", 128, "record");
    slower.verdict.reason += " (and 1 more)";
    slower.verdict.why = {
        {"registers",
         "more registers, so that fewer warps fit: registers 96 → 128 (+33.3 %), "
         "theoretical_occupancy 50.00 % → 37.50 % (-12.5 points); fewer warps hide less latency",
         {{"registers", "registers", 96, 128}, {"theoretical_occupancy", "%", 50, 37.5}},
         "more registers (96 → 128), so that fewer warps fit"},
        {"roofline",
         "roofline: 86 % of f32 matrix rate, compute-bound → 77 % of f32 matrix rate, "
         "compute-bound",
         {{"ceiling_share", "ratio", 0.859, 0.773}}}};
    slower.verdict.changed_kernels = {"gemm_tiled<float>"};
    slower.verdict.notes = {"another board than the baseline's: 11111 → b0a7d"};
    add(suite, verdicts, slower);

    Pair warned = timed(gemm("tiled", 768), 12, Verdict::pass, 30000, 30010,
                        "gpu_time passed: 30.00 µs → 30.01 µs (+0.03 %), tolerance 3 %");
    warned.verdict.metrics[1] =
        judged("l2_hit_rate", "%", Verdict::warned, 80, 72.5, "5 percentage points, only warns",
               "l2_hit_rate draws a warning: 80.00 % → 72.50 % (-7.5 points), tolerance 5 "
               "percentage points");
    warned.verdict.metrics[1].warns = true;
    warned.result.metrics["l2_hit_rate"] = series("%", 72.5, "counter/cold");
    warned.verdict.verdict = Verdict::warned;
    warned.verdict.reason = warned.verdict.metrics[1].sentence;
    add(suite, verdicts, warned);

    CaseVerdict gone;
    gone.workload = "gemm";
    gone.id = model::case_id(gemm("tiled", 8192));
    gone.place = {"suites/gemm.yaml", 0};
    gone.verdict = Verdict::missing;
    gone.reason = "in the baseline and not in the run: put the case back into the suite";
    verdicts.cases.push_back(gone);
}

void add_transpose(Documents& documents) {
    model::SuiteResult& suite = documents.run.suites.emplace_back();
    model::SuiteVerdict& verdicts = documents.verdict.suites.emplace_back();
    suite.name = verdicts.name = "transpose";
    suite.file = verdicts.file = "suites/transpose.yaml";
    verdicts.baseline_file = "baselines/nvidia-h100-80gb-hbm3/transpose.json";
    model::CaseSpec spec;
    spec.workload = "transpose";
    spec.variant = "padded";
    spec.params = {{"n", std::int64_t{4096}}};
    spec.cache = model::Cache::hot;
    Pair pair = timed(spec, 8, Verdict::pass, 50000, 50001,
                      "gpu_time passed: 50000 ns → 50001 ns (+0.002 %), tolerance 3 %");
    pair.result.place.file = pair.verdict.place.file = suite.file;
    pair.result.not_applicable = {"host_time"};
    pair.verdict.ceiling = model::CeilingShare{model::Bound::memory, "copy", 0.874};
    add(suite, verdicts, pair);

    const auto relation = [&](const std::string& text, const std::string& leading, Verdict verdict,
                              const std::string& sentence) {
        model::RelationVerdict& added = verdicts.relations.emplace_back();
        added.relation = text;
        added.leading = leading;
        added.place = {suite.file, 20};
        added.verdict = verdict;
        added.unit = "ns";
        added.sentence = sentence;
        return &added;
    };
    const std::string faster = "transpose/padded.gpu_time <= 0.25 * transpose/naive.gpu_time";
    const auto set_values = [](model::RelationVerdict* verdict, double left, double right) {
        verdict->left = left;
        verdict->right = right;
    };
    set_values(relation(faster, "transpose/padded[n=4096]@hot", Verdict::pass,
                        "transpose/padded.gpu_time is 50.00 µs, expected at most 55.00 µs (-9.1 "
                        "%): 0.25 * transpose/naive.gpu_time (transpose/naive.gpu_time is 220.0 "
                        "µs), for [n=4096]@hot"),
               50000, 55000);
    set_values(relation(faster, "transpose/padded[n=8192]@hot", Verdict::regressed,
                        "transpose/padded.gpu_time is 60.00 µs and should be at most 55.00 µs "
                        "(+9.1 %): 0.25 * transpose/naive.gpu_time (transpose/naive.gpu_time is "
                        "220.0 µs), for [n=8192]@hot"),
               60000, 55000);
    relation(faster, "transpose/padded[n=1024]@hot", Verdict::error,
             "cannot be judged: transpose/naive[n=1024]@hot was not measured: it had an error");
    relation("transpose/tma.gpu_time <= transpose/padded.gpu_time", "transpose/tma",
             Verdict::skipped,
             "not judged: transpose/tma was skipped: needs compute capability 10.0, the device "
             "has 9.0");
}

/// With groups and summaries, as explain::explain leaves them.
Documents summarized(Documents documents) {
    explain::group_cases(documents.run, documents.verdict);
    explain::write_headlines(documents.verdict);
    return documents;
}

}  // namespace

Documents every_verdict() {
    Documents documents;
    describe(documents, h100(), "cuda");
    documents.verdict.exit_code = 1;
    add_gemm(documents);
    add_transpose(documents);
    return summarized(std::move(documents));
}

Documents first_run() {
    Documents documents;
    model::Environment environment;
    environment.device.key = "amd-epyc-9654";
    environment.device.name = "AMD EPYC 9654";
    describe(documents, environment, "host");
    model::SuiteResult& suite = documents.run.suites.emplace_back();
    model::SuiteVerdict& verdicts = documents.verdict.suites.emplace_back();
    suite.name = verdicts.name = "gemm";
    suite.file = verdicts.file = "suites/gemm.yaml";
    suite.partial = true;
    verdicts.notes = {
        "no baseline for device 'amd-epyc-9654': accept a run's values with 'perfgate baseline "
        "refresh'"};
    for (const std::int64_t size : {128, 256, 512}) {
        Pair pair =
            make_case(gemm("reference", size), 12, CaseStatus::measured, Verdict::no_baseline,
                      "no baseline for this case: accept its values with 'perfgate "
                      "baseline refresh'");
        const double flops = 2.0 * static_cast<double>(size * size * size);
        pair.result.work = model::Work{flops, 0};
        pair.result.metrics["host_time"] = series("ns", flops / 2.5, "wall/cold");
        pair.result.not_applicable = {"gpu_time", "registers"};
        pair.verdict.metrics = {only_measured("host_time", "ns", flops / 2.5)};
        add(suite, verdicts, pair);
    }
    for (const std::int64_t size : {128, 256}) {
        add(suite, verdicts,
            make_case(gemm("tiled", size), 12, CaseStatus::skipped, Verdict::skipped,
                      "the host backend runs host variants only"));
    }
    return summarized(std::move(documents));
}

Documents regressed_by_kernel(const model::SourcePlace& source) {
    Documents documents = every_verdict();
    model::SuiteVerdict& suite = documents.verdict.suites[0];
    std::erase_if(suite.cases,
                  [](const CaseVerdict& verdict) { return verdict.verdict != Verdict::regressed; });
    for (CaseResult& result : documents.run.suites[0].cases) {
        if (model::case_id(result.spec) != suite.cases[0].id) continue;
        model::Kernel other;
        other.name = "void fill<float>(float*)";
        other.source = {"kernels/gemm/fill.cu", 3};
        model::Kernel changed;
        changed.name = "void gemm_tiled<float>(float*)";
        changed.source = source;
        result.kernels = {other, changed};
    }
    return documents;
}

Documents hostile(const std::string& text) {
    Documents documents;
    model::Environment environment;
    environment.device.name = environment.device.key = environment.device.board = text;
    environment.driver = environment.cuda_toolkit = environment.cupti = text;
    describe(documents, environment, text);
    documents.run.started_at = documents.verdict.started_at = text;
    documents.run.tool_version = documents.verdict.tool_version = text;
    documents.run.git_revision = text;
    documents.verdict.exit_code = 1;

    model::SuiteResult& suite = documents.run.suites.emplace_back();
    model::SuiteVerdict& verdicts = documents.verdict.suites.emplace_back();
    suite.name = suite.file = suite.description = text;
    verdicts.name = verdicts.file = verdicts.baseline_file = text;
    verdicts.notes = {text};
    for (const Verdict verdict :
         {Verdict::regressed, Verdict::error, Verdict::skipped, Verdict::pass, Verdict::missing}) {
        model::CaseSpec spec;
        spec.workload = spec.variant = text;
        spec.params = {{text, text}};
        Pair pair = make_case(spec, 3, CaseStatus::measured, verdict, text);
        // The same name again and again: readers drop what repeats.
        pair.verdict.id = text;
        pair.verdict.place.file = text;
        pair.verdict.log = text;
        pair.verdict.notes = {text};
        pair.result.verification = model::Verification{false, 1, text};
        pair.result.metrics[text] = series(text, 1.5, text);
        pair.result.not_collected = {{text + "2", text}};
        pair.result.not_applicable = {text};
        pair.verdict.ceiling = model::CeilingShare{model::Bound::neither, text, 0.5};
        pair.verdict.baseline_values = {{text, 1.0}};
        pair.verdict.why = {{text, text, {{text, text, 1, 2}}}};
        model::Kernel& kernel = pair.result.kernels.emplace_back();
        kernel.name = text;
        kernel.source = {text, 3};
        pair.verdict.changed_kernels = {model::short_kernel_name(text)};
        model::RelationVerdict& relation = verdicts.relations.emplace_back();
        relation.relation = relation.leading = relation.unit = relation.sentence = text;
        relation.place = {text, 3};
        relation.verdict = verdict;
        relation.left = 1.0;
        relation.right = 1.5;
        pair.verdict.metrics = {judged(text, text, verdict, 1, 1.5, text, text)};
        add(suite, verdicts, pair);
    }
    return summarized(std::move(documents));
}

Documents many_cases(int cases, int metrics) {
    Documents documents;
    describe(documents, h100(), "cuda");
    model::SuiteResult& suite = documents.run.suites.emplace_back();
    model::SuiteVerdict& verdicts = documents.verdict.suites.emplace_back();
    suite.name = verdicts.name = "many";
    for (int i = 0; i < cases; ++i) {
        const bool slow = i % 10 == 9;
        Pair pair =
            make_case(gemm("tiled", i + 1), 12, CaseStatus::measured,
                      slow ? Verdict::regressed : Verdict::pass, slow ? "gpu_time regressed" : "");
        for (int j = 0; j < metrics; ++j) {
            const std::string name =
                j == 0 ? "gpu_time" : "smsp__metric_number_" + std::to_string(j) + ".avg";
            const double value = 1000.0 * (i + 1) / (j + 3);
            pair.result.metrics[name] = series("ns", value, "counter/auto-range/user-replay/cold");
            documents.run.metric_definitions[name] = {name, "a metric", "ns"};
            if (j >= 4) {
                pair.verdict.baseline_values[name] = value;
                continue;
            }
            pair.verdict.metrics.push_back(judged(
                name, "ns", slow ? Verdict::regressed : Verdict::pass, value * 0.9, value, "3 %",
                name + (slow ? " regressed: " : " passed: ") + "0.9 → 1.0 (+11.1 %), tolerance"));
        }
        if (slow) {
            pair.verdict.why = {{"instructions",
                                 "more instructions for the same work: instructions 1000 → 1200 "
                                 "(+20.0 %)",
                                 {{"instructions", "count", 1000, 1200}},
                                 "more instructions for the same work (1000 → 1200)"}};
        }
        add(suite, verdicts, std::move(pair));
    }
    return summarized(std::move(documents));
}

}  // namespace perfgate::report
