// SPDX-License-Identifier: Apache-2.0
#include "runner/settling.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gate/machine_code.hpp"
#include "gate/rule.hpp"
#include "kinds/kinds.hpp"
#include "measure/elapsed.hpp"
#include "measure/workers.hpp"
#include "model/case.hpp"
#include "runner/back_to_back.hpp"
#include "runner/builds.hpp"
#include "runner/execution.hpp"
#include "runner/plan.hpp"
#include "runner/revisions.hpp"
#include "util/error.hpp"
#include "util/folder.hpp"
#include "util/temporary_folder.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

using CaseList = std::vector<model::CaseIndex>;

/// A case to settle, and its base's machine code if it is a source.
struct Undecided {
    model::CaseIndex at;
    const model::BaselineCase* expected = nullptr;
    std::string machine_code;  ///< a file; empty: its own, or it is a plugin's
    bool can_be_kept = false;  ///< `builds: DIR` keeps builds of such cases
};

/// Cases whose bases are measured together: by one plugin, or by none of their own.
struct Group {
    std::string words;                 ///< what is measured as the base
    std::vector<std::string> plugins;  ///< of the base; empty: those of the run
    std::string revision;              ///< that the base is checked out of; empty: it is not
    std::vector<Undecided> cases;
};

/// Finds the bases of cases.
class Bases {
  public:
    Bases(const MeasuringChoice& choice, const model::Plan& plan, const Judge& judge,
          const model::Run& run, const std::filesystem::path& copies)
        : choice_(choice), plan_(plan), judge_(judge), run_(run), copies_(copies) {}

    /// Adds the case to the group of its base. Returns why it has none at hand; empty: it has one.
    std::string add(const model::CaseIndex& at) {
        const model::SuiteResult& suite = run_.suites[at.suite];
        const model::CaseResult& result = suite.cases[at.index];
        const model::Subject& subject = *model::case_at(plan_, at).subject;
        const auto& stored = judge_.baselines().at(suite.name).baseline.cases;
        Undecided undecided{at, &stored.at(model::case_id(result.spec)), {}};
        const model::BaselineCase& expected = *undecided.expected;
        const std::string then = code_of_build(subject, expected.kernels, expected.host_code);
        undecided.can_be_kept = !then.empty();
        const bool of_source = subject.kernel() != nullptr;
        if (of_source && expected.host_code != result.host_code) {
            return "the suite launches them in another way than the baseline's: 'perfgate ab "
                   "--base rev:REF' measures both sides here";
        }
        const std::string& revision = expected.provenance.git_revision;
        const bool checked_out = subject.sides().checkouts && model::names_a_commit(revision);
        const auto from_revision = [&] {
            Group& group = groups_["revision " + revision];
            group.words = fmt::format("the baseline's revision {:.12}", revision);
            group.revision = revision;
            group.cases.push_back(undecided);
            return std::string();
        };
        if (then.empty()) {
            if (checked_out) return from_revision();
            return fmt::format(
                "no build is kept of {}, and the baseline names no commit to check out: 'perfgate "
                "ab --base rev:REF' measures both sides here",
                subject.in_words());
        }
        const std::string now = code_of_build(subject, result.kernels, result.host_code);
        if (then == now && expected.libraries == result.libraries) {
            Group& own = groups_["own"];
            own.words = "the baseline's build, which is the run's own";
            own.cases.push_back(std::move(undecided));
            return {};
        }
        if (choice_.builds.empty()) {
            if (checked_out) return from_revision();
            return "no build of the base is at hand: with 'builds: DIR' in the config, 'perfgate "
                   "baseline refresh' keeps it";
        }
        const KeptBuilds::Taken& taken = take(then, expected);
        if (!taken.problem.empty()) return checked_out ? from_revision() : taken.problem;
        Group& group = groups_[of_source ? "sources" : then];
        group.words = of_source ? "the baseline's machine code"
                                : fmt::format("the baseline's build {:.12}", then);
        const std::string file = taken.files.front().string();
        if (of_source) {
            undecided.machine_code = file;
        } else {
            group.plugins = {file};
        }
        group.cases.push_back(std::move(undecided));
        return {};
    }

    const std::map<std::string, Group>& groups() const { return groups_; }

  private:
    const KeptBuilds::Taken& take(const std::string& code, const model::BaselineCase& expected) {
        const auto [at, added] = taken_.try_emplace(code);
        if (added) {
            at->second =
                KeptBuilds(choice_.builds)
                    .take(code, expected.libraries.value_or(model::Libraries{}), copies_ / code);
        }
        return at->second;
    }

    const MeasuringChoice& choice_;
    const model::Plan& plan_;
    const Judge& judge_;
    const model::Run& run_;
    std::filesystem::path copies_;
    std::map<std::string, Group> groups_;
    std::map<std::string, KeptBuilds::Taken> taken_;
};

/// The fingerprint of the build that a case's baseline was measured with; empty: there is none, or
/// it is not known.
std::string code_in(const gate::BaselineSet& baselines, const std::string& suite,
                    const model::Subject& subject, const model::CaseResult& result) {
    const auto stored = baselines.find(suite);
    if (stored == baselines.end()) return {};
    const auto& cases = stored->second.baseline.cases;
    const auto expected = cases.find(model::case_id(result.spec));
    if (expected == cases.end()) return {};
    return code_of_build(subject, expected->second.kernels, expected->second.host_code);
}

/// How the measured base differs from the baseline's build; empty: it is that build.
std::string other_build(const model::CaseResult& base, const model::BaselineCase& expected) {
    if (base.host_code != expected.host_code) return "its files are not the baseline's";
    // The order of a program's kernels may differ.
    const auto codes = [](const std::vector<model::Kernel>& kernels) {
        std::set<std::pair<std::string, std::string>> all;
        for (const model::Kernel& kernel : kernels) all.emplace(kernel.name, kernel.code);
        return all;
    };
    if (codes(base.kernels) != codes(expected.kernels)) {
        return "its machine code is not the baseline's";
    }
    if (expected.libraries && base.libraries != expected.libraries) {
        return "it loads other libraries than the baseline's: link them with the run path $ORIGIN, "
               "beside the plugin";
    }
    return {};
}

/// Only these cases, with the times that are gated.
model::Plan plan_of(const model::Plan& plan, const Group& group, const model::Run& run) {
    model::Plan part;
    std::optional<std::size_t> suite;
    for (const Undecided& each : group.cases) {
        const model::PlannedSuite& whole = plan.suites[each.at.suite];
        if (suite != each.at.suite) {
            part.suites.push_back({whole.name, whole.file, whole.description, true, {}, {}});
            suite = each.at.suite;
        }
        model::PlannedCase& planned =
            part.suites.back().cases.emplace_back(whole.cases[each.at.index]);
        if (planned.group) continue;  // its processes measure all there is
        std::erase_if(planned.gates, [&](const model::GateRule& gate) {
            return run.metric_definitions.at(gate.metric).metric_class !=
                   model::MetricClass::timing;
        });
        planned.metrics.clear();
        for (const model::GateRule& gate : planned.gates) planned.metrics.push_back(gate.metric);
    }
    return part;
}

/// Skips the cases whose base is what the head runs, wherever it is checked out: beside itself
/// nothing is slower.
void skip_same(model::Plan& head, model::Plan& base) {
    for (const model::CaseIndex& at : model::all_cases(head)) {
        model::PlannedCase& of_head = head.suites[at.suite].cases[at.index];
        model::PlannedCase& of_base = base.suites[at.suite].cases[at.index];
        const std::string why = of_head.subject->same_as(*of_base.subject);
        if (!why.empty()) of_head.skip_reason = of_base.skip_reason = why;
    }
}

/// The times of one side. Round 0 of the pairs is the gate's first round that decides: the run's
/// own processes have flagged the case.
std::map<std::string, model::MetricSeries> times_of(const model::CaseResult& result,
                                                    const model::Run& run,
                                                    std::int64_t first_round) {
    std::map<std::string, model::MetricSeries> found;
    for (const model::GateRule& gate : result.gates) {
        const auto series = result.metrics.find(gate.metric);
        if (series == result.metrics.end() ||
            run.metric_definitions.at(gate.metric).metric_class != model::MetricClass::timing) {
            continue;
        }
        model::MetricSeries& own = found[gate.metric] = series->second;
        for (model::Batch& batch : own.batches) batch.round += first_round;
    }
    return found;
}

/// A folder for copies of builds, beside the results: the one for temporary files may hold no
/// programs. The folder that it is in is removed with it if nothing else is there.
class Copies {
  public:
    explicit Copies(const std::filesystem::path& out)
        : settled_(util::Folder(out).below("settled").path()),
          builds_(std::in_place, settled_, "builds") {}
    ~Copies() {
        builds_.reset();
        rmdir(settled_.c_str());
    }
    Copies(const Copies&) = delete;
    Copies& operator=(const Copies&) = delete;

    const std::filesystem::path& path() const { return builds_->path(); }

  private:
    std::filesystem::path settled_;
    std::optional<util::TemporaryFolder> builds_;
};

/// Measures the cases of a group back to back with their base.
class GroupMeasuring {
  public:
    GroupMeasuring(const MeasuringChoice& choice, const OpenedBackend& backend,
                   const model::Plan& plan, const Judge& judge, const model::Run& so_far,
                   const Group& group)
        : plan_(plan), judge_(judge), so_far_(so_far), group_(group) {
        of_head_ = choice_of(choice, backend, "settled");
        of_base_ = choice_of(choice, backend, "settled/base");
        if (!group.plugins.empty()) {
            of_base_.backend.plugins = group.plugins;
            of_base_.backend.bundled = false;
        }
        if (!group.plugins.empty() || !group.revision.empty()) {
            of_base_.backend.interpreters.clear();
        }
    }

    /// False: the user has interrupted it.
    bool measure(SettledCases& settled) {
        // The run's lock covers both; its own workers go on later.
        model::Plan of_head = plan_of(plan_, group_, so_far_);
        std::vector<std::string> files;
        for (const model::PlannedSuite& suite : of_head.suites) files.push_back(suite.file);
        std::optional<Revisions> revisions;
        Checkout checkout;
        if (!group_.revision.empty()) {
            checkout = revisions.emplace(files, of_head_.build)
                           .check_out("--base rev:" + group_.revision, group_.revision);
        } else {
            files.clear();
        }
        OpenedBackend head = open_beside(of_head_, {}, {});
        OpenedBackend base = open_beside(of_base_, files, checkout);
        head.capabilities.environment.device.key = base.capabilities.environment.device.key =
            so_far_.environment.device.key;
        model::Plan of_base =
            offered(in_checkout(with_machine_code(of_head), checkout), base.capabilities.workloads);
        if (revisions) {
            skip_same(of_head, of_base);
            if (!kinds::prepare(machine_of(of_base_, base), of_base)) return false;
        }
        Execution head_execution(of_head_, head, of_head);
        Execution base_execution(of_base_, base, of_base, Execution::Unsupported::skip);
        BackToBack both(base_execution.session(), head_execution.session(), *of_head_.processes);
        both.measure_all();
        take(both, of_head, settled);
        const std::int64_t rounds = judge_.policy().rounds;
        if (rounds > 1 && !both.interrupted()) {
            const CaseList unclear = unclear_in(of_head, settled);
            if (!unclear.empty()) {
                both.measure_again(unclear, 1, gate::round_size(2, gate::Processes::paired));
                take(both, of_head, settled);
            }
        }
        return !both.interrupted();
    }

    /// Of the base, in the order of the group.
    std::vector<model::CaseCode> base_code() {
        const model::Plan of_head = plan_of(plan_, group_, so_far_);
        OpenedBackend base = open_beside(of_base_, {}, {});
        const model::Plan of_base =
            offered(with_machine_code(of_head), base.capabilities.workloads);
        Execution execution(of_base_, base, of_base, Execution::Unsupported::skip);
        return execution.session().machine_code(model::all_cases(of_base));
    }

  private:
    static MeasuringChoice choice_of(const MeasuringChoice& choice, const OpenedBackend& backend,
                                     const std::string& folder) {
        MeasuringChoice own = choice;
        own.backend = backend.chosen;
        own.backend.backend = backend.name;
        own.backend.devices = backend.devices.front().id;
        own.backend.of_suites = false;
        own.out = util::Folder(choice.out).below(folder).path();
        own.processes = gate::round_size(1, gate::Processes::paired);
        own.progress = nullptr;
        own.resume.clear();
        own.filters.clear();
        own.tags.clear();
        own.ceilings = own.changed_only = false;
        return own;
    }

    model::Plan with_machine_code(model::Plan plan) const {
        const CaseList places = model::all_cases(plan);
        for (std::size_t i = 0; i < places.size(); ++i) {
            model::PlannedCase& planned = plan.suites[places[i].suite].cases[places[i].index];
            const std::string& file = group_.cases[i].machine_code;
            if (!file.empty()) planned.subject = planned.subject->with_machine_code(file);
        }
        return plan;
    }

    void take(const BackToBack& both, const model::Plan& part, SettledCases& settled) const {
        const std::int64_t first_round = std::min<std::int64_t>(1, judge_.policy().rounds);
        const CaseList places = model::all_cases(part);
        for (std::size_t i = 0; i < places.size(); ++i) {
            const model::CaseResult& after = model::case_at(both.run(), places[i]);
            const model::CaseResult& before = model::case_at(both.base_run(), places[i]);
            SettledCase& settled_case = settled[group_.cases[i].at];
            model::Settled& own = settled_case.settled;
            own = {group_.words,
                   {},
                   times_of(before, so_far_, first_round),
                   times_of(after, so_far_, first_round)};
            std::string why;
            if (before.status != model::CaseStatus::measured) {
                why = fmt::format(
                    "the base could not be measured: {}",
                    before.reason.empty() ? model::to_text(before.status) : before.reason);
            } else if (after.status != model::CaseStatus::measured) {
                why = fmt::format("beside the base they could not be measured: {}", after.reason);
                if (!both.interrupted()) {
                    settled_case.status = after.status;
                    settled_case.reason = "measured again beside its base: " + after.reason;
                }
            } else {
                why = other_build(before, *group_.cases[i].expected);
            }
            if (!why.empty()) own = {{}, util::printable(why, 500), {}, {}};
        }
    }

    /// Those that further pairs may decide, by the gate's own rule.
    CaseList unclear_in(const model::Plan& part, const SettledCases& settled) const {
        model::Run run = so_far_;
        add_settled(settled, run);
        const CaseList flagged = judge_.flagged(run);
        CaseList unclear;
        const CaseList places = model::all_cases(part);
        for (std::size_t i = 0; i < places.size(); ++i) {
            const model::CaseIndex& at = group_.cases[i].at;
            if (settled.at(at).settled.problem.empty() &&
                std::ranges::find(flagged, at) != flagged.end()) {
                unclear.push_back(places[i]);
            }
        }
        return unclear;
    }

    const model::Plan& plan_;
    const Judge& judge_;
    const model::Run& so_far_;
    const Group& group_;
    MeasuringChoice of_head_, of_base_;
};

}  // namespace

SettledCases settle_here(const MeasuringChoice& choice, const OpenedBackend& backend,
                         const model::Plan& plan, const Judge& judge, const model::Run& so_far,
                         measure::Session& session) {
    SettledCases settled;
    const CaseList undecided = judge.undecided_on_board(so_far);
    if (undecided.empty()) return settled;
    if (backend.devices.size() > 1) {
        for (const model::CaseIndex& at : undecided) {
            settled[at].settled.problem =
                "a base is measured on one device: name one with --devices";
        }
        return settled;
    }
    const auto begin = std::chrono::steady_clock::now();
    const Copies copies(choice.out);
    Bases bases(choice, plan, judge, so_far, copies.path());
    std::size_t at_hand = 0;
    for (const model::CaseIndex& at : undecided) {
        std::string problem = bases.add(at);
        at_hand += problem.empty() ? 1 : 0;
        if (!problem.empty()) settled[at].settled.problem = std::move(problem);
    }
    if (at_hand > 0 && choice.progress) {
        choice.progress->say(
            fmt::format("the baseline does not know this board: measuring the "
                        "base of {} here, back to back",
                        util::counted(at_hand, "case")));
    }
    for (const auto& [name, group] : bases.groups()) {
        try {
            if (GroupMeasuring(choice, backend, plan, judge, so_far, group).measure(settled)) {
                continue;
            }
            session.interrupt();
            return settled;
        } catch (const measure::Interrupted&) {
            session.interrupt();  // what the run has measured is stored
            return settled;
        } catch (const util::Error& error) {
            for (const Undecided& each : group.cases) {
                settled[each.at] = {};
                settled[each.at].settled.problem = fmt::format("the base could not be measured: {}",
                                                               util::printable(error.what(), 300));
            }
        }
    }
    if (at_hand > 0 && choice.progress) {
        choice.progress->say(fmt::format("settling took {:.1f} s", measure::seconds_since(begin)));
    }
    return settled;
}

/// Leaves out kernels that the baseline does not have.
static void keep_known(const Judge& judge, model::CaseCode& code) {
    const std::vector<model::Kernel>& known =
        judge.baselines().at(code.suite).baseline.cases.at(code.id).kernels;
    std::erase_if(code.kernels, [&](const model::KernelCode& kernel) {
        return std::ranges::none_of(
            known, [&](const model::Kernel& each) { return each.code == kernel.code; });
    });
    if (code.kernels.empty() && code.problem.empty()) {
        code.problem = "the base's is not at hand: its build's is not the baseline's";
    }
}

std::vector<model::CaseCode> code_of_bases(const MeasuringChoice& choice,
                                           const OpenedBackend& backend, const model::Plan& plan,
                                           const Judge& judge, const model::Run& run,
                                           const CaseList& cases) {
    std::vector<model::CaseCode> all;
    if (backend.devices.size() > 1) return all;  // samples of two boards are not compared
    const auto add_problem = [&](const model::CaseIndex& at, const std::string& problem) {
        model::CaseCode& code = all.emplace_back();
        code.suite = run.suites[at.suite].name;
        code.id = model::case_id(run.suites[at.suite].cases[at.index].spec);
        code.problem = "the base's is not at hand: " + util::printable(problem, 300);
    };
    const Copies copies(choice.out);
    Bases bases(choice, plan, judge, run, copies.path());
    for (const model::CaseIndex& at : cases) {
        const std::string problem = bases.add(at);
        if (!problem.empty()) add_problem(at, problem);
    }
    MeasuringChoice beside = choice;
    beside.out = copies.path();  // nothing is measured that is worth keeping
    for (const auto& [name, group] : bases.groups()) {
        const auto refuse = [&](const std::string& why) {
            for (const Undecided& each : group.cases) add_problem(each.at, why);
        };
        // Building a revision would take longer than the run.
        if (!group.revision.empty()) {
            for (const Undecided& each : group.cases) {
                add_problem(
                    each.at,
                    fmt::format("'perfgate ab --base rev:REF' has both{}",
                                each.can_be_kept ? "; 'builds: DIR' in the config keeps it" : ""));
            }
            continue;
        }
        try {
            for (model::CaseCode& code :
                 GroupMeasuring(beside, backend, plan, judge, run, group).base_code()) {
                keep_known(judge, code);
                all.push_back(std::move(code));
            }
        } catch (const measure::Interrupted&) {
            return all;
        } catch (const util::Error& error) {
            refuse(error.what());
        }
    }
    return all;
}

void add_settled(const SettledCases& settled, model::Run& run) {
    for (const auto& [at, what] : settled) {
        model::CaseResult& result = run.suites.at(at.suite).cases.at(at.index);
        result.settled = what.settled;
        if (what.status == model::CaseStatus::measured) continue;
        result.status = what.status;
        result.reason = what.reason;
    }
}

void keep_builds(const MeasuringChoice& choice, const OpenedBackend& backend,
                 const model::Plan& plan, const model::Run& run,
                 const gate::BaselineSet* baselines) {
    if (choice.builds.empty()) return;
    const KeptBuilds kept(choice.builds);
    std::set<std::string> known;
    for (const model::CaseIndex& at : model::all_cases(run)) {
        const model::CaseResult& result = model::case_at(run, at);
        const model::Subject& subject = *model::case_at(plan, at).subject;
        if (result.status != model::CaseStatus::measured) continue;
        const std::string code = code_of_build(subject, result.kernels, result.host_code);
        if (baselines != nullptr &&
            code != code_in(*baselines, run.suites[at.suite].name, subject, result)) {
            continue;
        }
        if (!known.insert(code).second) continue;
        const Build build = build_of(subject, result, backend.capabilities.workloads);
        if (build.code.empty()) continue;
        const std::string problem = kept.keep(build);
        if (!problem.empty()) fmt::print(stderr, "perfgate: warning: {}\n", problem);
    }
}

}  // namespace perfgate::runner
