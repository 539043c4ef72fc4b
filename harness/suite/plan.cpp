// SPDX-License-Identifier: Apache-2.0
#include "suite/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <compare>
#include <set>
#include <utility>

#include "model/case.hpp"
#include "suite/suite_checks.hpp"
#include "util/error.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

/// Which filters and tags have selected a case of the target.
struct Used {
    std::vector<bool> filters, tags;

    explicit Used(const PlanOptions& options)
        : filters(options.filters.size(), false), tags(options.tags.size(), false) {}
};

bool has_tag(const std::vector<std::string>& tags, const std::string& tag) {
    return std::ranges::find(tags, tag) != tags.end();
}

/// Every filter and tag is evaluated, so that one which never matches is found.
bool is_selected(const SuiteCase& suite_case, const std::vector<std::string>& tags,
                 const PlanOptions& options, Used& used) {
    bool filter_matches = options.filters.empty();
    const auto matches = [&](const std::string& filter) {
        // It may be about cases that are not known yet.
        return model::stands_for_cases(suite_case.spec)
                   ? util::glob_may_match(filter, suite_case.spec.workload + '/')
                   : util::glob_match(filter, suite_case.id);
    };
    for (std::size_t i = 0; i < options.filters.size(); ++i) {
        if (!matches(options.filters[i])) continue;
        used.filters[i] = true;
        filter_matches = true;
    }
    bool tag_matches = options.tags.empty();
    for (std::size_t i = 0; i < options.tags.size(); ++i) {
        if (!has_tag(tags, options.tags[i])) continue;
        used.tags[i] = true;
        tag_matches = true;
    }
    return filter_matches && tag_matches;
}

/// "9.0" as the catalogue writes it, 90; 0 if it is not a compute capability.
int capability_of(std::string_view text) {
    const std::size_t point = text.find('.');
    if (point == std::string_view::npos) return 0;
    const auto major = util::parsed<int>(text.substr(0, point));
    const auto minor = util::parsed<int>(text.substr(point + 1));
    if (!major || !minor || *major < 0 || *major > 999 || *minor < 0 || *minor > 9) return 0;
    return *major * 10 + *minor;
}

constexpr std::string_view not_built_start = "not built: ";

std::string not_built_reason(const SuiteCase& suite_case) {
    return fmt::format("{}{}; build it with a CUDA toolkit", not_built_start,
                       util::printable(suite_case.not_built));
}

std::vector<std::string> lines_of(const std::string& file,
                                  const std::map<std::string, std::size_t>& cases) {
    std::vector<std::string> lines;
    lines.reserve(cases.size());
    for (const auto& [reason, count] : cases) {
        lines.push_back(fmt::format("{}: {} {} {}", util::printable(file),
                                    util::counted(count, "case"), count == 1 ? "is" : "are",
                                    reason));
    }
    return lines;
}

std::string skip_reason(const SuiteCase& suite_case, const PlanOptions& options) {
    const std::string stated = stated_skip(suite_case, options.device_key);
    if (!stated.empty()) return "the suite skips it: " + stated;
    if (!suite_case.not_built.empty()) return not_built_reason(suite_case);
    if (!suite_case.skipped.empty()) return suite_case.skipped;
    const int has = capability_of(options.compute_capability);
    const int needs = suite_case.min_compute_capability;
    if (suite_case.target == model::Target::cuda && has != 0 && needs > has) {
        return fmt::format("needs compute capability {}.{}, the device has {}", needs / 10,
                           needs % 10, options.compute_capability);
    }
    return {};
}

/// Programs are measured wherever they run.
bool is_other(model::Target target, const PlanOptions& options) {
    return options.target && target != *options.target && target != model::Target::program;
}

/// The relations of the target. An instance is planned if any of its cases is: the gate reports the
/// cases that were not measured.
std::vector<model::Relation> plan_relations(const Suite& suite,
                                            const std::set<std::size_t>& selected,
                                            const PlanOptions& options) {
    std::vector<model::Relation> planned;
    for (const SuiteRelation& stated : suite.relations) {
        if (is_other(stated.target, options)) continue;
        model::Relation relation = stated.relation;
        for (const std::vector<std::size_t>& instance : stated.instances) {
            if (std::ranges::none_of(instance,
                                     [&](std::size_t index) { return selected.contains(index); })) {
                continue;
            }
            std::vector<std::string>& ids = relation.instances.emplace_back();
            for (const std::size_t index : instance) ids.push_back(suite.cases[index].id);
        }
        for (const LoneCase& each : stated.lone) {
            if (selected.contains(each.leading)) relation.instances.push_back(each.ids);
        }
        if (!relation.instances.empty()) planned.push_back(std::move(relation));
    }
    return planned;
}

/// The indices of the cases of the target that the filters and tags select.
std::set<std::size_t> select(const Suite& suite, const PlanOptions& options, Used& used,
                             PlanCounts& counts) {
    std::set<std::size_t> selected;
    counts.total += suite.cases.size();
    for (std::size_t index = 0; index < suite.cases.size(); ++index) {
        const SuiteCase& suite_case = suite.cases[index];
        if (is_other(suite_case.target, options)) {
            ++counts.other_target;
        } else if (!is_selected(suite_case, suite.entries[suite_case.entry].tags, options, used)) {
            ++counts.not_matched;
        } else {
            selected.insert(index);
            ++counts.planned;
        }
    }
    return selected;
}

/// The ids that a suite has, whatever is selected of it.
class IdsOfSuite {
  public:
    explicit IdsOfSuite(const Suite& suite) {
        for (const SuiteCase& suite_case : suite.cases) {
            ids_.insert(suite_case.id);
            if (model::stands_for_cases(suite_case.spec)) open_.push_back(&suite_case.spec);
        }
    }

    /// Or may have: cases of a benchmark that was not asked for them are not known.
    [[nodiscard]] bool contains(const std::string& id) const {
        return ids_.contains(id) || std::ranges::any_of(open_, [&](const auto* spec) {
                   return model::stands_for(*spec, id);
               });
    }

  private:
    std::set<std::string_view> ids_;
    std::vector<const model::CaseSpec*> open_;
};

SuitePlan plan_one(const Suite& suite, const PlanOptions& options, Used& used) {
    SuitePlan planned;
    planned.suite.name = suite.name;
    planned.suite.file = suite.file;
    planned.suite.description = suite.description;
    PlanCounts& counts = planned.counts;

    DeviceSettings device_settings(suite, options.device_key);
    Problems& problems = device_settings.problems();
    const std::set<std::size_t> selected = select(suite, options, used, counts);
    const IdsOfSuite ids(suite);
    for (const std::size_t index : selected) {
        const SuiteCase& suite_case = suite.cases[index];
        const ResolvedSettings& settings = device_settings.of(suite_case);
        const std::vector<model::GateRule>& gates = settings.gates(suite_case.target);
        if (gates.empty() && !suite_case.expected) {
            problems.add(suite_case.at, no_gate_message(suite_case, options.device_key));
        }
        if (suite_case.group && settings.deterministic.value) {
            problems.add(settings.deterministic.at, unknown_outputs_message(suite_case));
        }

        model::PlannedCase& out = planned.suite.cases.emplace_back();
        out.spec = suite_case.spec;
        out.target = suite_case.target;
        out.submission = suite_case.submission;
        out.subject = suite_case.subject;
        out.group = suite_case.group;
        out.problem = suite_case.problem;
        out.log = suite_case.log;
        out.measured_as = measured_as(*out.subject);
        out.was = former_id(suite_case);
        if (!out.was.empty() && ids.contains(out.was)) out.was.clear();  // no former name
        out.place = {suite.file, suite_case.at.line};
        out.tags = suite.entries[suite_case.entry].tags;
        out.metrics = settings.metrics;
        if (suite_case.target == model::Target::program) {
            std::erase_if(out.metrics, [&](const std::string& name) {
                return settings.not_of_programs.contains(name);
            });
        }
        out.gates = gates;
        out.seed = settings.seed;
        out.precision = settings.precision;
        out.time_budget_s = settings.time_budget_s;
        out.deterministic = settings.deterministic.value;
        out.skipped_by_suite = !stated_skip(suite_case, options.device_key).empty();
        out.skip_reason = skip_reason(suite_case, options);
        if (!out.skip_reason.empty()) ++counts.skipped;
    }
    problems.throw_if_any();
    planned.suite.relations = plan_relations(suite, selected, options);
    planned.suite.partial = counts.not_matched > 0;
    return planned;
}

std::vector<std::string> all_quoted(const std::vector<std::string>& texts) {
    std::vector<std::string> all;
    all.reserve(texts.size());
    for (const std::string& text : texts) all.push_back(in_quotes(text));
    return all;
}

std::string selection_text(const PlanOptions& options) {
    std::vector<std::string> parts;
    if (!options.filters.empty()) {
        parts.push_back(fmt::format("--filter {}", fmt::join(all_quoted(options.filters), ", ")));
    }
    if (!options.tags.empty()) {
        parts.push_back(fmt::format("--tag {}", fmt::join(all_quoted(options.tags), ", ")));
    }
    return fmt::format("{}", fmt::join(parts, " and "));
}

/// "; did you mean …?", or some of the cases that there are to select.
std::string selectable(const std::vector<Suite>& suites, const PlanOptions& options,
                       const std::string& wanted) {
    constexpr std::size_t most_shown = 3, most_compared = 500;
    std::vector<std::string> ids;
    std::size_t all = 0;
    for (const Suite& suite : suites) {
        for (const SuiteCase& suite_case : suite.cases) {
            if (is_other(suite_case.target, options)) continue;
            if (ids.size() < most_compared) ids.push_back(suite_case.id);
            ++all;
        }
    }
    if (std::string near = util::did_you_mean(wanted, ids); !near.empty()) return near;
    std::string text;
    for (std::size_t i = 0; i < std::min(ids.size(), most_shown); ++i) {
        text += (text.empty() ? "; there is " : ", ") + util::printable(ids[i], 100);
    }
    if (all > most_shown) text += fmt::format(" and {} more", all - most_shown);
    return text;
}

std::string empty_message(const PlanCounts& counts, const PlanOptions& options) {
    std::string text = fmt::format("no case is left of {}", counts.total);
    if (counts.other_target > 0) {
        const bool host = options.target == model::Target::host;
        text += fmt::format(": {} of {} variants, which the {} backend does not run",
                            counts.other_target, host ? "CUDA" : "host", host ? "host" : "cuda");
        if (host && counts.other_target == counts.total) {
            text +=
                "; they need a machine with an NVIDIA GPU, which 'perfgate doctor --backend cuda' "
                "checks";
        }
    }
    if (counts.not_matched > 0) {
        text += fmt::format("{} {} not selected by {}", counts.other_target > 0 ? "," : ":",
                            counts.not_matched, selection_text(options));
    }
    return text;
}

/// A filter that selects nothing is a typo, even if others select something.
void check_used(const std::vector<bool>& used, const std::vector<std::string>& wanted,
                std::string_view option, const std::string& instead) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (used[i]) continue;
        throw util::InputError("{} {} selects no case{}", option, in_quotes(wanted[i]), instead);
    }
}

std::string tags_text(const std::vector<Suite>& suites) {
    std::set<std::string> tags;
    for (const Suite& suite : suites) {
        for (const Entry& entry : suite.entries) tags.insert(entry.tags.begin(), entry.tags.end());
    }
    if (tags.empty()) return "; no case has a tag";
    return "; the tags are " + util::printable(fmt::format("{}", fmt::join(tags, ", ")), 300);
}

/// Metrics that suites define themselves: in a run, a name means one metric.
void check_own_metrics(const model::Plan& plan) {
    std::map<std::string, std::pair<model::MetricDefinition, std::string>> known;
    for (const model::PlannedSuite& suite : plan.suites) {
        for (const model::PlannedCase& planned : suite.cases) {
            const std::string& workload = planned.spec.workload;
            for (const model::MetricDefinition& own : planned.subject->own_metrics()) {
                const auto [first, added] =
                    known.try_emplace(own.name, own, suite.name + '/' + workload);
                if (added || first->second.first == own) continue;
                throw util::InputError(
                    "{}: {} of {} has another unit or direction than that of {}; expected a name "
                    "of its own",
                    suite.file, in_quotes(own.name), workload, first->second.second);
            }
        }
    }
}

}  // namespace

std::vector<std::string> not_built(const Suite& suite) {
    std::map<std::string, std::size_t> cases;
    for (const SuiteCase& suite_case : suite.cases) {
        if (!suite_case.not_built.empty()) ++cases[not_built_reason(suite_case)];
    }
    return lines_of(suite.file, cases);
}

std::vector<std::string> not_built(const model::PlannedSuite& suite) {
    std::map<std::string, std::size_t> cases;
    for (const model::PlannedCase& planned : suite.cases) {
        if (planned.skip_reason.starts_with(not_built_start)) ++cases[planned.skip_reason];
    }
    return lines_of(suite.file, cases);
}

std::string stated_skip(const SuiteCase& suite_case, const std::string& device_key) {
    std::string reason;
    for (const Override* over : suite_case.overrides) {
        const bool holds = over->device.empty() ||
                           (!device_key.empty() && util::glob_match(over->device, device_key));
        if (holds && !over->skip.empty()) reason = over->skip;
    }
    return reason;
}

std::string former_id(const SuiteCase& suite_case) {
    std::string was;
    for (const Override* over : suite_case.overrides) {
        if (!over->was.empty()) was = model::former_id(suite_case.id, over->was);
    }
    return was;
}

std::string former_id(const Suite& suite, const std::string& id) {
    std::string was;
    const auto take = [&](const std::vector<Override>& overrides) {
        for (const Override& over : overrides) {
            if (over.was.empty() || !util::glob_match(over.match, id)) continue;
            was = model::former_id(id, over.was);
        }
    };
    take(suite.overrides);
    for (const Entry& entry : suite.entries) take(entry.overrides);
    return was;
}

const ResolvedSettings& DeviceSettings::of(const SuiteCase& suite_case) {
    auto layers = layers_of(suite_, suite_case, [&](const std::string& glob) {
        return !device_.empty() && util::glob_match(glob, device_);
    });
    const auto [found, added] = resolved_.try_emplace(std::move(layers));
    if (added) found->second = resolve(found->first, problems_);
    return found->second;
}

SuitePlan plan_suite(const Suite& suite, const PlanOptions& options) {
    Used used(options);
    return plan_one(suite, options, used);
}

std::vector<CaseOfSuites> cases_to_run(const std::vector<Suite>& suites,
                                       const PlanOptions& options) {
    std::vector<CaseOfSuites> cases;
    PlanCounts counts;
    Used used(options);
    for (std::size_t s = 0; s < suites.size(); ++s) {
        for (const std::size_t index : select(suites[s], options, used, counts)) {
            if (skip_reason(suites[s].cases[index], options).empty()) cases.push_back({s, index});
        }
    }
    const std::string wanted = options.filters.empty() ? "" : options.filters.front();
    if (counts.planned == 0) {
        throw util::InputError(empty_message(counts, options) +
                               selectable(suites, options, wanted));
    }
    const auto unused = std::ranges::find(used.filters, false);
    const std::string instead =
        unused == used.filters.end()
            ? ""
            : selectable(suites, options,
                         options.filters[static_cast<std::size_t>(unused - used.filters.begin())]);
    check_used(used.filters, options.filters, "--filter", instead);
    check_used(used.tags, options.tags, "--tag", tags_text(suites));
    return cases;
}

model::Plan plan_suites(const std::vector<Suite>& suites, const PlanOptions& options) {
    cases_to_run(suites, options);
    model::Plan plan;
    for (const Suite& suite : suites) plan.suites.push_back(plan_suite(suite, options).suite);
    check_own_metrics(plan);
    return plan;
}

namespace {

constexpr std::int64_t most_shards = 10'000;

/// A case of the plan. Cases that run come first, so that each shard gets one of them; the rest of
/// the order depends on nothing but the names.
struct Item {
    bool skipped = false;  ///< known in advance
    std::string suite, id;
    std::size_t suite_index = 0, case_index = 0;  ///< in the plan

    auto operator<=>(const Item&) const = default;
};

std::vector<Item> items_of(const model::Plan& plan) {
    std::vector<Item> items;
    for (std::size_t s = 0; s < plan.suites.size(); ++s) {
        const model::PlannedSuite& suite = plan.suites[s];
        for (std::size_t c = 0; c < suite.cases.size(); ++c) {
            const model::PlannedCase& planned = suite.cases[c];
            items.push_back(
                {!planned.skip_reason.empty(), suite.name, model::case_id(planned.spec), s, c});
        }
    }
    std::ranges::sort(items);
    return items;
}

/// Shards are judged as one run: they must gate alike.
std::string gates_of(const model::PlannedSuite& suite) {
    util::Sha256 digest;
    for (const model::PlannedCase& planned : suite.cases) {
        for (const model::GateRule& gate : planned.gates) {
            digest.add(fmt::format(
                "{} {} {} {} {} {}{}\n", model::case_id(planned.spec), gate.metric,
                gate.tolerance.worse, gate.tolerance.better.value_or(-1), gate.tolerance.abs,
                gate.cross_board,
                (gate.tolerance.severity ? fmt::format(" {}", to_text(*gate.tolerance.severity))
                                         : "") +
                    (gate.tolerance.tail ? fmt::format(" tail {}", *gate.tolerance.tail) : "")));
        }
    }
    for (const model::Relation& relation : suite.relations) {
        digest.add(model::to_text(relation) + '\n');
    }
    return digest.fingerprint();
}

model::Shard whole_of(const model::Plan& plan, const ShardChoice& choice) {
    model::Shard shard{choice.index, choice.count, {}};
    for (const model::PlannedSuite& suite : plan.suites) {
        model::ShardedSuite& whole = shard.whole.emplace_back();
        whole.name = suite.name;
        whole.partial = suite.partial;
        whole.gates = gates_of(suite);
        for (const model::PlannedCase& planned : suite.cases) {
            whole.cases.push_back(model::case_id(planned.spec));
        }
    }
    return shard;
}

}  // namespace

ShardChoice parse_shard(std::string_view text) {
    const std::size_t slash = std::min(text.find('/'), text.size());
    const auto index = util::parsed<std::int64_t>(text.substr(0, slash));
    const auto count = util::parsed<std::int64_t>(text.substr(std::min(slash + 1, text.size())));
    if (!index || !count || *index < 1 || *index > *count || *count > most_shards) {
        throw util::InputError("--shard '{}': expected which of how many, from 1/{} on, as 2/3",
                               util::printable(text, 100), count && *count > 0 ? *count : 1);
    }
    return {*index, *count};
}

model::Shard take_shard(model::Plan& plan, const ShardChoice& choice) {
    model::Shard shard = whole_of(plan, choice);
    const std::vector<Item> items = items_of(plan);
    const auto runnable =
        std::ranges::count_if(items, [](const Item& item) { return !item.skipped; });
    if (runnable < choice.count) {
        throw util::InputError(
            "--shard {}/{}: {} of the {} cases run here: divide them into no more shards",
            choice.index, choice.count, runnable, items.size());
    }
    std::vector<std::set<std::size_t>> kept(plan.suites.size());
    for (auto i = static_cast<std::size_t>(choice.index - 1); i < items.size();
         i += static_cast<std::size_t>(choice.count)) {
        kept[items[i].suite_index].insert(items[i].case_index);
    }
    model::Plan part;
    for (std::size_t s = 0; s < plan.suites.size(); ++s) {
        model::PlannedSuite& suite = plan.suites[s];
        std::vector<model::PlannedCase> cases = std::move(suite.cases);
        suite.cases.clear();
        for (const std::size_t index : kept[s]) suite.cases.push_back(std::move(cases[index]));
        suite.partial = suite.partial || suite.cases.size() != cases.size();
        if (!suite.cases.empty()) part.suites.push_back(std::move(suite));
    }
    plan = std::move(part);
    return shard;
}

}  // namespace perfgate::suite
