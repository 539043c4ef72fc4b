// SPDX-License-Identifier: Apache-2.0
#include "suite/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "suite/amount.hpp"

namespace perfgate::suite {

namespace {

constexpr std::size_t longest_metric_name = 200;
/// In the metric's unit (eleven days, a petabyte): nothing that is measured differs by more.
constexpr double most_leeway = 1e15;

const metrics::MetricSet* find_set(std::string_view name) {
    for (const metrics::MetricSet& set : metrics::metric_sets()) {
        if (set.name == name) return &set;
    }
    return nullptr;
}

void add_unknown_metric(Position at, const std::string& name, bool sets, Problems& problems) {
    std::vector<std::string> candidates = metrics::metric_names();
    if (sets) {
        for (const metrics::MetricSet& set : metrics::metric_sets()) candidates.push_back(set.name);
    }
    problems.add_unknown(
        at, "metric", name, candidates,
        sets ? "a metric or set that `perfgate list --metrics` lists, or a CUPTI name"
             : "a metric that `perfgate list --metrics` lists, or a CUPTI name");
}

/// The catalogue's row; nothing for a name that is too long.
std::optional<metrics::Metric> find_metric(const std::string& name) {
    if (name.size() > longest_metric_name) return std::nullopt;
    return metrics::find_metric(name);
}

std::optional<Settings::Metrics> read_metrics(const YamlNode& node, Problems& problems) {
    Settings::Metrics metrics{{}, node.at};
    std::set<std::string> seen;
    const auto take = [&](const std::string& name) {
        if (seen.insert(name).second) metrics.names.push_back(name);
    };
    for (const YamlNode* item : read_list(node, "metrics", "metrics and sets", problems)) {
        const std::optional<std::string> name = text_of(*item);
        if (!name) {
            add_wrong_type(*item, "metrics", "the name of a metric or set", problems);
        } else if (const metrics::MetricSet* set = find_set(*name)) {
            for (const std::string& member : set->metrics) take(member);
        } else if (find_metric(*name)) {
            take(*name);
        } else {
            add_unknown_metric(item->at, *name, true, problems);
        }
    }
    if (metrics.names.size() > most_metrics) {
        problems.add(node.at, "{} metrics; expected at most {}", metrics.names.size(),
                     most_metrics);
        metrics.names.resize(most_metrics);
    }
    // An empty list has been reported; it must not fall back to the layer below as if it were
    // absent.
    return metrics;
}

/// Absolute leeway in the metric's unit.
std::optional<double> read_leeway(const YamlNode& node, const metrics::Metric& metric,
                                  Problems& problems) {
    const std::optional<Amount> amount = read_amount(node, "abs", problems);
    if (!amount) return std::nullopt;
    const std::string& unit = metric.definition.unit;
    const std::optional<double> value = in_unit(*amount, unit);
    if (value && *value <= most_leeway) return value;
    const std::string units = units_for(unit);
    add_wrong_type(node, "abs",
                   value           ? fmt::format("at most {:g} of the metric's unit", most_leeway)
                   : units.empty() ? "a plain number"
                                   : "a plain number or one in " + units,
                   problems);
    return std::nullopt;
}

struct MetricTolerance {
    const metrics::Metric& metric;
    model::Tolerance tolerance{};
};

const std::vector<Key<MetricTolerance>>& tolerance_keys() {
    using model::Severity;
    static const std::vector<Key<MetricTolerance>> keys{
        {"worse", "How much worse than the baseline still passes.", fraction(),
         in(&MetricTolerance::tolerance, &model::Tolerance::worse)},
        {"better", "How much better than the baseline is not reported as improved.",
         fraction().schema,
         [](const KeyValue& value, MetricTolerance& to) {
             to.tolerance.better = read_fraction(value.node, value.key, value.problems);
             const model::MetricDefinition& metric = to.metric.definition;
             if (metric.direction != model::Direction::none) return;
             value.problems.add(value.node.at,
                                "'better' for {}, which is neither better lower nor higher; "
                                "expected 'worse', which holds both ways",
                                in_quotes(metric.name));
         }},
        {"abs", "A smaller difference than this is no change, in the metric's unit or with a unit.",
         defined("leeway"),
         [](const KeyValue& value, MetricTolerance& to) {
             to.tolerance.abs = read_leeway(value.node, to.metric, value.problems).value_or(0);
         }},
        {"tail",
         "How much worse the slowest tenth of a time's samples may be. By default twice `worse`.",
         fraction().schema,
         [](const KeyValue& value, MetricTolerance& to) {
             to.tolerance.tail = read_fraction(value.node, value.key, value.problems);
             const model::MetricDefinition& metric = to.metric.definition;
             if (metric.unit == "ns") return;
             value.problems.add(value.node.at, "'tail' for {}, which is no time",
                                in_quotes(metric.name));
         }},
        {"severity",
         "What follows if it is worse: the run fails, or only says so. By default what the config "
         "says of the metric's class, else `fail`.",
         choice<Severity>({{"fail", Severity::fail}, {"warn", Severity::warn}}),
         in(&MetricTolerance::tolerance, &model::Tolerance::severity)},
    };
    return keys;
}

std::optional<model::Tolerance> read_tolerance_map(const YamlNode& node,
                                                   const metrics::Metric& metric,
                                                   Problems& problems) {
    const std::size_t before = problems.count();
    const Fields fields(node, "a tolerance", key_names(tolerance_keys()), problems);
    if (fields.find("worse") == nullptr && fields.find("abs") == nullptr) {
        problems.add(node.at, "a tolerance without 'worse' and 'abs'; expected one of them");
    }
    MetricTolerance read{metric};
    read_keys(fields, tolerance_keys(), read, problems);
    if (problems.count() != before) return std::nullopt;
    return read.tolerance;
}

/// `3%`, `0.03`, `0` as a fraction; `0.5us` as absolute leeway; `{worse: 2%, abs: 0.5us}`.
std::optional<model::Tolerance> read_tolerance(const YamlNode& node, const metrics::Metric& metric,
                                               Problems& problems) {
    if (node.kind == YamlNode::Kind::map) return read_tolerance_map(node, metric, problems);
    const std::string& name = metric.definition.name;
    const std::optional<Amount> amount = read_amount(node, name, problems);
    if (!amount) return std::nullopt;
    // Not made in the return: GCC 12 would call its severity uninitialised.
    model::Tolerance tolerance;
    if (const std::optional<double> fraction = fraction_in(*amount)) {
        tolerance.worse = *fraction;
        return tolerance;
    }
    if (amount->unit != "%" && !amount->unit.empty()) {
        const std::optional<double> leeway = in_unit(*amount, metric.definition.unit);
        tolerance.abs = leeway.value_or(0);
        if (leeway && *leeway <= most_leeway) return tolerance;
    }
    const std::string units = units_for(metric.definition.unit);
    const bool too_much = in_unit(*amount, metric.definition.unit).value_or(0) > most_leeway;
    const bool bare = amount->unit.empty() && !too_much;
    const bool time = metric.definition.metric_class == model::MetricClass::timing;
    const std::string expected =
        amount->unit == "%" ? fmt::format("at most {}%", most_percent)
        : too_much
            ? fmt::format("at most {:g} of the metric's unit", most_leeway)
            : fmt::format("{}, a fraction below 1, {} or {{abs: {}}}", example_percentage(*amount),
                          units.empty() ? "none" : "an amount in " + units,
                          bare ? fmt::format("{:g}", amount->value) : "…");
    problems.add(node.at, "wrong value for {}; expected {}, found {}{}", in_quotes(name), expected,
                 describe(node),
                 bare && time ? fmt::format("; did you mean {:g}%?", amount->value) : "");
    return std::nullopt;
}

std::map<std::string, Settings::ToleranceEntry> read_tolerances(const YamlNode& node,
                                                                Problems& problems) {
    std::map<std::string, Settings::ToleranceEntry> tolerances;
    if (node.kind != YamlNode::Kind::map) {
        add_wrong_type(node, "tolerances", "a map from metric to tolerance", problems);
        return tolerances;
    }
    for (const YamlNode::Entry& entry : node.entries) {
        const std::string& name = entry.key->text;
        const std::optional<metrics::Metric> metric = find_metric(name);
        if (!metric) {
            add_unknown_metric(entry.key->at, name, false, problems);
            continue;
        }
        if (const auto read = read_tolerance_entry(entry, *metric, problems)) {
            tolerances.emplace(name, *read);
        }
    }
    return tolerances;
}

std::optional<std::vector<model::Cache>> read_cache(const YamlNode& node, Problems& problems) {
    static const Sort<model::Cache> cache = cache_state();
    const bool is_list = node.kind == YamlNode::Kind::list;
    std::vector<const YamlNode*> items{&node};
    if (is_list) items = read_list(node, "cache", "cold and hot", problems);
    std::vector<model::Cache> caches;
    for (const YamlNode* item : items) {
        const std::optional<model::Cache> found = cache.read({*item, "cache", problems});
        if (!found) continue;
        if (std::ranges::find(caches, *found) == caches.end()) {
            caches.push_back(*found);
        } else {
            problems.add(item->at, "{} is in 'cache' twice; expected it once",
                         in_quotes(item->text));
        }
    }
    if (caches.empty()) return std::nullopt;
    return caches;
}

std::optional<Settings::Deterministic> read_deterministic(const YamlNode& node,
                                                          Problems& problems) {
    const auto value = boolean().read({node, "deterministic", problems});
    return value ? std::optional(Settings::Deterministic{*value, node.at}) : std::nullopt;
}

using SettingsKey = Key<Settings, ResolvedSettings>;

const std::vector<SettingsKey>& settings_keys() {
    static const std::vector<SettingsKey> keys{
        SettingsKey(
            "metrics",
            "What is collected: a list of metrics, sets (`time`, `core`, `full`, `energy`) and raw "
            "CUPTI names (`smsp__inst_executed.sum`). `perfgate list --metrics` lists them. A "
            "later layer replaces the list.",
            R"("type": "array", "minItems": 1, "items": {"$ref": "#/definitions/name"})",
            read_metrics, &Settings::metrics)
            .usually(fmt::format("[{}]", default_metric_set)),
        {"tolerances",
         "What is gated: a map from metric to [tolerance](#tolerances). Every one must be "
         "collected. Later layers are merged, metric by metric.",
         defined("tolerances"), read_tolerances, &Settings::tolerances},
        SettingsKey("cross_board_tolerance", cross_board_help, fraction(), &Settings::cross_board)
            .usually(percent(default_cross_board)),
        SettingsKey(
            "cache",
            "`cold`: the L2 cache is flushed before each launch, and before timed ones persisting "
            "lines are released. `hot`: it is left as it is, the default of host variants in "
            "Python. `[cold, hot]`: both, as two cases.",
            R"("anyOf": [{"enum": ["cold", "hot"]}, {"type": "array", "minItems": 1,
               "uniqueItems": true, "items": {"enum": ["cold", "hot"]}}])",
            read_cache, &Settings::cache)
            .usually("cold")
            .outside_overrides(),
        SettingsKey(
            "precision",
            "Sampling stops when the median is known to this fraction (95 % interval). Above 0 %, "
            "at most 50 %.",
            fraction(R"("anyOf": [{"type": "number", "exclusiveMinimum": 0, "maximum": 0.5},
                        {"$ref": "#/definitions/percentage"}])",
                     [](double share) { return share > 0 && share <= 0.5; },
                     "a percentage above 0% and up to 50%"),
            &Settings::precision, Weaker::more, &ResolvedSettings::precision)
            .that_weakens(Weakens::sampling),
        SettingsKey(
            "time_budget",
            "Maximum launching time per case and kind of time; with its unit, at most 600s.",
            seconds("100ms", 600), &Settings::time_budget_s, Weaker::less,
            &ResolvedSettings::time_budget_s)
            .that_weakens(Weakens::sampling),
        SettingsKey(
            "seed",
            "Seed of the inputs that are measured. Verification uses fresh ones. An integer from "
            "0.",
            integer(0, std::numeric_limits<std::int64_t>::max()), &Settings::seed)
            .usually(std::to_string(default_seed))
            .outside_overrides(),
        SettingsKey(
            "deterministic",
            "`true`: a case must give the same bits again; see [below](#deterministic). Not for "
            "programs.",
            boolean().schema, read_deterministic, &Settings::deterministic)
            .shows(
                [](const ResolvedSettings& of) { return boolean().text(of.deterministic.value); })
            .weaker_if([](const ResolvedSettings& before, const ResolvedSettings& after) {
                return before.deterministic.value && !after.deterministic.value;
            })
            .that_weakens(Weakens::verification)
            .usually("false"),
    };
    return keys;
}

const std::vector<std::string>& default_metrics() {
    static const std::vector<std::string> names = [] {
        const metrics::MetricSet* set = find_set(default_metric_set);
        return set == nullptr ? std::vector<std::string>{} : set->metrics;
    }();
    return names;
}

/// For programs: only labels of kernels have it.
bool is_of_kernels(const metrics::Metric& metric) {
    return metric.source == metrics::Source::counter ||
           metric.source == metrics::Source::kernel_record;
}

/// ceiling_share needs a time. Default metrics have no share; `stated` is null for them.
void check_what_shares_need(const std::vector<std::string>& names, const Settings::Metrics* stated,
                            Problems& problems) {
    const auto has = [&](std::string_view name) {
        return std::ranges::find(names, name) != names.end();
    };
    if (stated == nullptr || !has(metrics::ceiling_share) || has("gpu_time") || has("gpu_span")) {
        return;
    }
    problems.add(stated->at,
                 "{} without gpu_time and gpu_span, of which it is a share; expected one of them "
                 "in 'metrics' too",
                 in_quotes(metrics::ceiling_share));
}

}  // namespace

bool applies(const metrics::Metric& metric, model::Target target) {
    using metrics::Source;
    switch (target) {
        case model::Target::host:
            return metric.source == Source::wall;
        case model::Target::cuda:
            return metric.source != Source::wall && metric.source != Source::program &&
                   metric.source != Source::benchmark;
        case model::Target::program:
            return metric.source == Source::program || metric.source == Source::activity ||
                   metric.source == Source::benchmark || is_of_kernels(metric) ||
                   metric.definition.name == metrics::memory_peak;
    }
    return false;
}

Sort<model::Cache> cache_state() {
    return choice<model::Cache>({{"cold", model::Cache::cold}, {"hot", model::Cache::hot}});
}

std::vector<KeyText> tables::settings() {
    return texts_of(settings_keys());
}

std::vector<KeyText> tables::tolerance() {
    return texts_of(tolerance_keys());
}

std::vector<WeakerKey> weaker_keys(const ResolvedSettings& before, const ResolvedSettings& after) {
    return weaker_keys(settings_keys(), before, after);
}

std::optional<Settings::ToleranceEntry> read_tolerance_entry(const YamlNode::Entry& entry,
                                                             const metrics::Metric& metric,
                                                             Problems& problems) {
    Settings::ToleranceEntry read{{}, entry.key->at};
    if (text_of(*entry.value) == "none") return read;
    read.tolerance = read_tolerance(*entry.value, metric, problems);
    return read.tolerance ? std::optional(read) : std::nullopt;
}

Settings read_settings(const Fields& fields, Problems& problems) {
    Settings settings;
    read_keys(fields, settings_keys(), settings, problems);
    return settings;
}

ResolvedSettings resolve(std::span<const Settings* const> layers, Problems& problems) {
    ResolvedSettings resolved;
    const Settings::Metrics* metrics = nullptr;
    std::size_t metrics_layer = 0;
    struct Winner {
        const Settings::ToleranceEntry* entry;
        std::size_t layer;
    };
    std::map<std::string_view, Winner> tolerances;
    std::map<std::string_view, const metrics::Metric*> own;
    std::set<std::string> of_kernels;
    double cross_board = default_cross_board;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const Settings& layer = *layers[i];
        if (layer.metrics) {
            metrics = &*layer.metrics;
            metrics_layer = i;
        }
        for (const auto& [name, entry] : layer.tolerances) tolerances[name] = {&entry, i};
        for (const auto& [name, metric] : layer.own) own[name] = &metric;
        of_kernels.insert(layer.of_kernels.begin(), layer.of_kernels.end());
        cross_board = layer.cross_board.value_or(cross_board);
        resolved.precision = layer.precision.value_or(resolved.precision);
        resolved.time_budget_s = layer.time_budget_s.value_or(resolved.time_budget_s);
        resolved.seed = layer.seed.value_or(resolved.seed);
        resolved.deterministic = layer.deterministic.value_or(resolved.deterministic);
    }
    resolved.metrics = metrics != nullptr ? metrics->names : default_metrics();

    for (const std::string& name : resolved.metrics) {
        const auto metric = metrics::find_metric(name);
        if (metric && is_of_kernels(*metric) && !of_kernels.contains(name)) {
            resolved.not_of_programs.insert(name);
        }
    }
    check_what_shares_need(resolved.metrics, metrics, problems);
    for (const std::string& name : resolved.metrics) {
        const auto found = tolerances.find(name);
        if (found == tolerances.end()) continue;
        const Settings::ToleranceEntry& entry = *found->second.entry;
        tolerances.erase(found);
        const auto defined = own.find(name);
        const std::optional<metrics::Metric> metric =
            defined != own.end() ? *defined->second : metrics::find_metric(name);
        if (!metric || !entry.tolerance) continue;
        model::GateRule rule{name, *entry.tolerance, 0};
        if (metric->definition.metric_class == model::MetricClass::timing) {
            rule.cross_board = cross_board;
        }
        for (auto& [target, gates] : resolved.by_target) {
            if (target == model::Target::program && resolved.not_of_programs.contains(name)) {
                continue;
            }
            if (applies(*metric, target)) gates.push_back(rule);
        }
    }
    for (const auto& [name, winner] : tolerances) {
        if (!winner.entry->tolerance) continue;
        if (metrics != nullptr && metrics_layer > winner.layer) {
            problems.add(metrics->at,
                         "{} is gated (line {}) but not collected here; expected it in 'metrics', "
                         "or '{}: none' in 'tolerances'",
                         in_quotes(name), winner.entry->at.line, name);
        } else {
            problems.add(winner.entry->at,
                         "{} is gated but not collected; expected it in 'metrics' too",
                         in_quotes(name));
        }
    }
    return resolved;
}

}  // namespace perfgate::suite
