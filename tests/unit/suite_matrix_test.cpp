// SPDX-License-Identifier: Apache-2.0
// The matrix expands as GitHub's documentation says it does.
#include "suite/matrix.hpp"

#include <gtest/gtest.h>

namespace perfgate::suite {
namespace {

using model::Cache;
using model::Params;
using Texts = std::vector<std::string>;

std::string text_of(const Params& params) {
    std::string text;
    for (const auto& [name, value] : params) {
        text += (text.empty() ? "" : " ") + name + '=' + model::to_text(value);
    }
    return text;
}

Texts expanded(const Matrix& matrix, std::string_view variant = "v", Cache cache = Cache::cold) {
    std::vector<bool> used(matrix.exclude.size(), false);
    Texts texts;
    for (const Combination& combination : expand(matrix, variant, cache, used)) {
        texts.push_back(text_of(combination.params));
    }
    return texts;
}

Axis axis(const std::string& name, const std::vector<const char*>& values) {
    Axis made{name, {}};
    for (const char* value : values) made.items.push_back({{name, std::string(value)}});
    return made;
}

MatrixRule rule(const std::vector<std::pair<std::string, std::string>>& values) {
    MatrixRule made;
    for (const auto& [name, value] : values) made.params.emplace(name, value);
    return made;
}

TEST(SuiteMatrix, IsOneCombinationWhereNothingIsSaid) {
    EXPECT_EQ(expanded({}), Texts{""});
}

TEST(SuiteMatrix, IsTheProductOfItsAxesWithTheFirstVaryingSlowest) {
    EXPECT_EQ(expanded({{axis("a", {"1", "2"}), axis("b", {"x", "y"})}, {}, {}}),
              (Texts{"a=1 b=x", "a=1 b=y", "a=2 b=x", "a=2 b=y"}));
}

TEST(SuiteMatrix, TiesParametersThatAnItemSetsTogether) {
    const Axis shape{"shape",
                     {{{"m", std::string("1")}, {"n", std::string("2")}},
                      {{"m", std::string("3")}, {"n", std::string("4")}}}};
    EXPECT_EQ(expanded({{shape, axis("t", {"f"})}, {}, {}}), (Texts{"m=1 n=2 t=f", "m=3 n=4 t=f"}));
}

TEST(SuiteMatrix, ExcludesWhatHasAllValuesOfAnItem) {
    const std::vector<Axis> axes{axis("a", {"1", "2"}), axis("b", {"x", "y"})};
    EXPECT_EQ(expanded({axes, {}, {rule({{"a", "1"}, {"b", "x"}})}}),
              (Texts{"a=1 b=y", "a=2 b=x", "a=2 b=y"}));
    EXPECT_EQ(expanded({axes, {}, {rule({{"b", "x"}})}}), (Texts{"a=1 b=y", "a=2 b=y"}));
    EXPECT_EQ(expanded({axes, {}, {rule({{"c", "x"}})}}).size(), 4U);
}

TEST(SuiteMatrix, TellsWhichExcludesRemoveSomething) {
    const Matrix matrix{{axis("a", {"1", "2"})}, {}, {rule({{"a", "1"}}), rule({{"a", "9"}})}};
    std::vector<bool> used(2, false);
    expand(matrix, "v", Cache::cold, used);
    EXPECT_EQ(used, (std::vector<bool>{true, false}));
}

// The example of GitHub's documentation, "Expanding or adding matrix configurations".
TEST(SuiteMatrix, IncludesAsGitHubDocumentsIt) {
    const Matrix matrix{
        {axis("fruit", {"apple", "pear"}), axis("animal", {"cat", "dog"})},
        {rule({{"color", "green"}}), rule({{"color", "pink"}, {"animal", "cat"}}),
         rule({{"fruit", "apple"}, {"shape", "circle"}}), rule({{"fruit", "banana"}}),
         rule({{"fruit", "banana"}, {"animal", "cat"}})},
        {}};
    EXPECT_EQ(expanded(matrix),
              (Texts{"animal=cat color=pink fruit=apple shape=circle",
                     "animal=dog color=green fruit=apple shape=circle",
                     "animal=cat color=pink fruit=pear", "animal=dog color=green fruit=pear",
                     "fruit=banana", "animal=cat fruit=banana"}));
}

// The example of suites/README.md.
TEST(SuiteMatrix, LetsALaterIncludeChangeWhatAnEarlierOneAdded) {
    const Matrix matrix{{axis("m", {"256", "512"}), axis("t", {"f16", "bf16"})},
                        {rule({{"n", "64"}}), rule({{"m", "256"}, {"n", "128"}}),
                         rule({{"m", "1000"}, {"t", "f16"}})},
                        {rule({{"m", "512"}, {"t", "f16"}})}};
    EXPECT_EQ(expanded(matrix), (Texts{"m=256 n=128 t=f16", "m=256 n=128 t=bf16",
                                       "m=512 n=64 t=bf16", "m=1000 t=f16"}));
}

TEST(SuiteMatrix, MakesEachIncludeACombinationWhereThereIsNoAxis) {
    EXPECT_EQ(expanded({{}, {rule({{"a", "1"}}), rule({{"b", "2"}})}, {}}), (Texts{"a=1", "b=2"}));
}

TEST(SuiteMatrix, ExcludesBeforeItIncludes) {
    EXPECT_EQ(expanded({{axis("a", {"1", "2"})}, {rule({{"a", "1"}})}, {rule({{"a", "1"}})}}),
              (Texts{"a=2", "a=1"}));
    EXPECT_EQ(expanded({{axis("a", {"1"})}, {rule({{"a", "2"}})}, {rule({{"a", "1"}})}}),
              (Texts{"a=2"}));
}

TEST(SuiteMatrix, AppliesARuleToTheVariantAndCacheThatItNames) {
    MatrixRule of_naive = rule({{"a", "1"}});
    of_naive.variant = "naive";
    MatrixRule of_hot = rule({{"a", "2"}});
    of_hot.cache = Cache::hot;
    const Matrix excludes{{axis("a", {"1", "2"})}, {}, {of_naive, of_hot}};
    EXPECT_EQ(expanded(excludes, "naive", Cache::cold), (Texts{"a=2"}));
    EXPECT_EQ(expanded(excludes, "tiled", Cache::cold), (Texts{"a=1", "a=2"}));
    EXPECT_EQ(expanded(excludes, "tiled", Cache::hot), (Texts{"a=1"}));
    EXPECT_EQ(expanded(excludes, "naive", Cache::hot), Texts{});
    const Matrix includes{{axis("a", {"7"})}, {of_naive}, {}};
    EXPECT_EQ(expanded(includes, "naive"), (Texts{"a=7", "a=1"}));
    EXPECT_EQ(expanded(includes, "tiled"), (Texts{"a=7"}));
}

TEST(SuiteMatrix, KnowsWhichIncludeMadeACombination) {
    const Matrix matrix{{axis("a", {"1"})}, {rule({{"a", "2"}})}, {}};
    std::vector<bool> used;
    const auto combinations = expand(matrix, "v", Cache::cold, used);
    ASSERT_EQ(combinations.size(), 2U);
    EXPECT_EQ(combinations[0].made_by, nullptr);
    EXPECT_EQ(combinations[1].made_by, &matrix.include[0]);
}

TEST(SuiteMatrix, CountsItsProductWithoutMakingIt) {
    Axis wide{"a", std::vector<Params>(1000)};
    EXPECT_EQ(product_size({{}, {}, {}}, 100), 1U);
    EXPECT_EQ(product_size({{wide}, {}, {}}, 10'000), 1000U);
    const std::vector<Axis> many(40, wide);
    EXPECT_EQ(product_size({many, {}, {}}, 10'000), 10'001U);
}

}  // namespace
}  // namespace perfgate::suite
