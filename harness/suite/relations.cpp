// SPDX-License-Identifier: Apache-2.0
#include "suite/relations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "metrics/catalogue.hpp"
#include "model/hottest_kernel.hpp"
#include "model/roofline.hpp"
#include "suite/expression.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

std::string_view side_of(model::Target target) {
    return util::word_of<model::Target::program>(target,
                                                 {"a host variant", "a CUDA variant", "a program"});
}

model::Target target_of(const Operand& operand) {
    return operand.variant == nullptr ? model::Target::program : operand.variant->target;
}

class RelationReader {
  public:
    RelationReader(std::string_view file, const RelationScope& scope, Problems& problems)
        : file_(file),
          scope_(scope),
          problems_(problems),
          matcher_(scope, problems),
          workloads_(matcher_.known_workloads()) {}

    ReadRelations read(const std::vector<StatedRelation>& stated) {
        for (const StatedRelation& each : stated) {
            add(PlacedText(each.left, each.at, false), PlacedText(each.comparison, each.at, false),
                each.at, each.reason);
        }
        return std::move(read_);
    }

    std::vector<SuiteRelation> resolve(const std::vector<OpenRelation>& open) {
        for (const OpenRelation& each : open) {
            const Position at{each.relation.place.line, each.right.start().column};
            add(each.left, each.right, at, each.relation.reason);
        }
        return std::move(read_.relations);
    }

    /// `prefix` is put before each left side.
    ReadRelations read(const YamlNode& node, const SourceText& source, std::string_view prefix) {
        constexpr std::string_view expected =
            "a map such as {gemm/tiled.gpu_time: \"<= 0.5 * gemm/naive.gpu_time\"}";
        if (node.kind != YamlNode::Kind::map) {
            add_wrong_type(node, "expect", expected, problems_);
            return {};
        }
        if (node.entries.empty()) {
            problems_.add(node.at, "wrong value for 'expect'; expected {}, found nothing in it",
                          expected);
            return {};
        }
        const auto read_one = [&](const YamlNode& left, const YamlNode& right) {
            if (right.kind != YamlNode::Kind::scalar) {
                add_wrong_type(right, left.text,
                               "a comparison such as \"<= 0.5 * gemm/naive.gpu_time\"", problems_);
                return;
            }
            add(source.place(left).behind(prefix), source.place(right), right.at, {});
        };
        for (const YamlNode::Entry& entry : node.entries) {
            if (entry.value->kind != YamlNode::Kind::list) {
                read_one(*entry.key, *entry.value);
                continue;
            }
            for (const YamlNode* item :
                 read_list(*entry.value, "expect", "comparisons", problems_)) {
                read_one(*entry.key, *item);
            }
        }
        return std::move(read_);
    }

  private:
    void add(const PlacedText& left, const PlacedText& right, Position at,
             const std::string& reason) {
        const std::size_t before = problems_.count();
        read(left, right, at, reason);
        if (problems_.count() == before) return;
        read_.unread.push_back(
            {fmt::format("{} {}", left.text(), right.text()), {std::string(file_), at.line}});
    }

    void read(const PlacedText& left, const PlacedText& right, Position at,
              const std::string& reason) {
        if (++count_ == most_relations + 1) {
            problems_.add(left.start(), "more than {} relations; expected fewer", most_relations);
        }
        if (count_ > most_relations) return;
        std::optional<RelationExpression> parsed =
            parse_relation(left, right, workloads_, problems_);
        if (!parsed || !scope_.complete) return;

        SuiteRelation found;
        model::Relation& relation = found.relation;
        relation.place = {std::string(file_), at.line};
        relation.left_text = left.text();
        relation.comparator = parsed->comparator;
        relation.right_text = without_comparator(right.text(), parsed->comparator);
        relation.reason = reason;
        relation.unit = parsed->unit;
        for (const Operand& operand : parsed->operands) relation.operands.push_back(operand.text);
        relation.left = std::move(parsed->left);
        relation.right = std::move(parsed->right);
        found.target = target_of(parsed->operands.front());
        const std::size_t before = problems_.count();
        check_targets(parsed->operands);
        if (problems_.count() != before) return;
        if (scope_.may_discover &&
            std::ranges::any_of(parsed->operands,
                                [](const Operand& operand) { return operand.is_open(); })) {
            read_.open.push_back({std::move(found.relation), left, right});
            return;
        }
        matcher_.match(parsed->operands, found);
        if (problems_.count() == before) read_.relations.push_back(std::move(found));
    }

    static std::string without_comparator(std::string_view text, model::Comparator comparator) {
        text.remove_prefix(text.find(to_text(comparator)) + to_text(comparator).size());
        const std::size_t begin = std::min(text.find_first_not_of(" \t\n"), text.size());
        text.remove_prefix(begin);
        return std::string(text.substr(0, text.find_last_not_of(" \t\n") + 1));
    }

    void check_targets(const std::vector<Operand>& operands) {
        const Operand& leading = operands.front();
        for (const Operand& operand : operands) {
            const model::Target target = target_of(operand);
            if (target != target_of(leading)) {
                problems_.add(
                    operand.at,
                    "{} is {}, {} {}, and no run measures both; expected variants of one target",
                    in_quotes(operand.text), side_of(target), in_quotes(leading.text),
                    side_of(target_of(leading)));
                continue;
            }
            for (const Operand::Use& use : operand.uses) {
                const auto metric = metrics::find_metric(use.metric);
                const bool has = use.metric == model::bound_operand ? target == model::Target::cuda
                                 : use.metric == model::hottest_operand
                                     ? target == model::Target::program
                                     : !metric || applies(*metric, target);
                if (has) continue;
                problems_.add(use.at, "{} has no {}; expected a metric that it has",
                              side_of(target), in_quotes(use.metric));
            }
        }
    }

    std::string_view file_;
    const RelationScope& scope_;
    Problems& problems_;
    RelationMatcher matcher_;
    std::vector<KnownWorkload> workloads_;
    ReadRelations read_;
    std::size_t count_ = 0;
};

}  // namespace

ReadRelations read_relations(const YamlNode& node, const SourceText& source, std::string_view file,
                             const RelationScope& scope, Problems& problems,
                             std::string_view prefix) {
    return RelationReader(file, scope, problems).read(node, source, prefix);
}

ReadRelations read_relations(const std::vector<StatedRelation>& stated, std::string_view file,
                             const RelationScope& scope, Problems& problems) {
    return RelationReader(file, scope, problems).read(stated);
}

std::vector<SuiteRelation> resolve_relations(const std::vector<OpenRelation>& open,
                                             std::string_view file, const RelationScope& scope,
                                             Problems& problems) {
    return RelationReader(file, scope, problems).resolve(open);
}

}  // namespace perfgate::suite
