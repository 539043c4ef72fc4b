// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "cli/canary.hpp"
#include "cli/options/gate.hpp"
#include "cli/options/output.hpp"
#include "cli/run_file.hpp"
#include "cli/shard_costs.hpp"
#include "cli/suspicions.hpp"
#include "cli/verbs/verb.hpp"
#include "cli/workers.hpp"
#include "gate/batch_rule.hpp"
#include "gate/machine_code.hpp"
#include "gate/rounds.hpp"
#include "model/case.hpp"
#include "model/error.hpp"
#include "suite/profile.hpp"
#include "suite/shard.hpp"

namespace perfgate::cli {

namespace {

std::vector<measure::Suspicion> suspicions_by(const GateOptions& options, const model::Run& run) {
    const model::Policy policy = policy_of(options);
    try {
        return suspicions(run, load_baselines(run, options.baselines), policy,
                          gate::BatchRule(policy));
    } catch (const model::InputError&) {
        // A baseline that cannot be used: judging says so, once the run is stored.
        return {};
    }
}

/// For MeasuringChoice::unchanged: asks the baselines, which are read at the first question.
class Unchanged {
  public:
    explicit Unchanged(std::string folder) : folder_(std::move(folder)) {}

    bool operator()(const model::Run& run, const std::string& suite,
                    const model::CaseResult& recorded, std::uint64_t seed) {
        if (!baselines_) baselines_ = load_baselines(run, folder_);
        const auto stored = baselines_->find(suite);
        if (stored == baselines_->end()) return false;
        const auto& cases = stored->second.baseline.cases;
        const auto expected = cases.find(model::case_id(recorded.spec));
        if (expected == cases.end()) return false;
        gate::Code now = gate::code_of(recorded, run.environment);
        now.seed = seed;
        return gate::runs_the_same(now, gate::code_of(expected->second));
    }

  private:
    std::string folder_;
    std::optional<gate::BaselineSet> baselines_;
};

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
    CLI::App* verb = app.add_subcommand(
        "run", "Measures the suites, compares with the baselines, writes reports");
    struct Options {
        std::vector<std::string> suites;
        MeasuringChoice measuring;
        GateOptions gate;
        OutputOptions output;
        bool changed_only = false, canary = false;
        std::string shard, costs;
    };
    const auto options = std::make_shared<Options>();
    options->output.out = "perfgate-out";
    verb->add_option("SUITE", options->suites, "Suite files")->required()->type_name("FILE");
    add_measuring_options(*verb, options->measuring);
    verb->add_option("--resume", options->measuring.resume,
                     "Measure what is missing in the output folder of a run that did not come to "
                     "its end; the rest must be as it was")
        ->type_name("DIR");
    verb->add_flag("--changed-only", options->changed_only,
                   "Measure the cases alone whose machine code, launch or inputs are not the "
                   "baseline's; one launch of each case is recorded to tell");
    verb->add_flag("--canary", options->canary,
                   "Afterwards measure a quick case once more, made slower, and exit 3 if the gate "
                   "does not find it");
    verb->add_option("--shard", options->shard,
                     "Measure one of several parts, which `merge` makes one run of: 2/3 is the "
                     "second of three")
        ->type_name("I/N");
    verb->add_option("--costs", options->costs,
                     "Balance shards by what cases cost in this run (default: in the baselines); "
                     "the same for all shards")
        ->type_name("RUN");
    add_gate_options(*verb, options->gate);
    add_output_options(*verb, options->output);
    verb->footer(
        "Writes journal.jsonl, run.json, verdict.json and junit.xml into the output folder.\n"
        "Exit codes: 0 pass; 1 regressed, incorrect or missing; 2 usage or invalid input, nothing "
        "measured;\n3 something could not be measured; 4 inconclusive or no baseline, where the "
        "policy says so; 130 interrupted.");
    verb->callback([&invocation, options, verb] {
        invocation.body = [options, verb] {
            MeasuringChoice& measuring = options->measuring;
            const suite::Profile profile = apply_profile(*verb, options->gate, options->output);
            apply_measuring_profile(*verb, profile, measuring);
            if (!measuring.resume.empty()) options->output.out = measuring.resume;
            check_outputs(*verb, options->output);
            measuring.filters = options->gate.selection.filters;
            measuring.tags = options->gate.selection.tags;
            measuring.out = options->output.out;
            measuring.again = [&](const model::Run& run) {
                return suspicions_by(options->gate, run);
            };
            measuring.round_size = gate::round_size;
            if (options->changed_only) measuring.unchanged = Unchanged(options->gate.baselines);
            if (!options->shard.empty()) {
                const suite::ShardChoice shard = suite::parse_shard(options->shard);
                // It is part of the options: one that held them would keep them for ever.
                measuring.divide = [&, shard](model::Plan& plan, const std::string& key) {
                    return suite::take_shard(
                        plan, shard,
                        shard_costs(plan, options->costs, options->gate.baselines, key));
                };
            } else if (!options->costs.empty()) {
                throw model::InputError("--costs balances shards: pass --shard as well");
            }
            const model::Run run = measure_suites(options->suites, measuring);
            const int stored = store_run(run, measuring.out);
            const int judged = model::combine_exit_codes(
                stored, judge_and_report(run, options->gate, options->output));
            if (!options->canary && !profile.canary) return judged;
            return model::combine_exit_codes(
                judged, try_canary(run, options->suites, measuring, options->gate));
        };
    });
}

}  // namespace perfgate::cli
