// SPDX-License-Identifier: Apache-2.0
#include "kinds/python/declared.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "util/error.hpp"

namespace perfgate::python {
namespace {

std::vector<DeclaredWorkload> declared(const std::string& text) {
    return declared_workloads(text, "kernels.py");
}

/// The one workload of a decorator with these arguments.
DeclaredWorkload with(const std::string& arguments) {
    const auto found =
        declared("@perfgate.workload(" + arguments + ")\ndef add(seed):\n    pass\n");
    EXPECT_EQ(1u, found.size());
    return found.at(0);
}

std::vector<std::string> values(const std::string& literal) {
    const DeclaredWorkload found = with("n=" + literal);
    std::vector<std::string> texts;
    if (found.info.params.empty()) return {found.open};
    for (const auto& value : found.info.params.at(0).values) texts.push_back(model::to_text(value));
    return texts;
}

using Texts = std::vector<std::string>;

TEST(DeclaredWorkloads, HaveNameParametersAndVariants) {
    const auto found = declared(R"(import perfgate

@perfgate.workload(n=[2**20, 2**24], dtype=["f16", 'f32'],
                   variants={"triton": "cuda", "numpy": "host"})  # both
@other(1)
def add(n, dtype, seed, variant):
    pass
)");
    ASSERT_EQ(1u, found.size());
    EXPECT_EQ("add", found[0].info.name);
    EXPECT_EQ(3u, found[0].line);
    EXPECT_EQ("", found[0].open);
    ASSERT_EQ(2u, found[0].info.params.size());
    EXPECT_EQ("dtype", found[0].info.params[0].name);
    EXPECT_EQ(model::ParamType::text, found[0].info.params[0].type);
    EXPECT_EQ("n", found[0].info.params[1].name);
    EXPECT_EQ(16777216, std::get<std::int64_t>(found[0].info.params[1].values.at(1)));
    ASSERT_EQ(2u, found[0].info.variants.size());
    EXPECT_EQ("numpy", found[0].info.variants[1].name);
    EXPECT_EQ(model::Target::host, found[0].info.variants[1].target);
}

TEST(DeclaredWorkloads, HaveOneVariantOfTheTargetIfNoneIsNamed) {
    const DeclaredWorkload found = with("target='host'");
    ASSERT_EQ(1u, found.info.variants.size());
    EXPECT_EQ("python", found.info.variants[0].name);
    EXPECT_EQ(model::Target::host, found.info.variants[0].target);
}

TEST(DeclaredWorkloads, TakeTheNameOfTheDecorator) {
    EXPECT_EQ("sum", with("name='sum'").info.name);
}

TEST(DeclaredWorkloads, ReadLiteralsAsPythonDoes) {
    EXPECT_EQ((Texts{"7"}), values("7"));
    EXPECT_EQ((Texts{"-7", "1000"}), values("[-7, 1_000]"));
    EXPECT_EQ((Texts{"255", "5", "8"}), values("(0xff, 0b101, 0o10)"));
    EXPECT_EQ((Texts{"1048576"}), values("2**20"));
    EXPECT_EQ((Texts{"512"}), values("2**3**2"));
    EXPECT_EQ((Texts{"-4"}), values("-2**2"));
    EXPECT_EQ((Texts{"-4"}), values("-7 // 2"));
    EXPECT_EQ((Texts{"14", "1"}), values("[2 + 3 * 4, (1)]"));
    EXPECT_EQ((Texts{"1"}), values("(1,)"));
    EXPECT_EQ((Texts{"true", "false"}), values("[True, False]"));
    EXPECT_EQ(model::ParamType::real, with("n=[1, 0.5]").info.params.at(0).type);
}

TEST(DeclaredWorkloads, AreOpenWhereAValueIsNoLiteral) {
    for (const char* literal : {"SIZES", "[n for n in (1, 2)]", "range(3)", "[2**64]", "1 / 2",
                                "f'{n}'", "'a\\n'", "[1, 'a']", "[[1]]", "[]", "2**-1", "-'a'"}) {
        EXPECT_NE("", with("n=" + std::string(literal)).open) << literal;
    }
    EXPECT_NE("", with("**options").open);
    EXPECT_EQ("", with("n=[1], resets=True").open);
}

TEST(DeclaredWorkloads, AreThoseOfTopLevelFunctionsAlone) {
    EXPECT_TRUE(
        declared("\"\"\"\n@perfgate.workload(n=[1])\ndef add(n, seed): pass\n\"\"\"\n").empty());
    EXPECT_TRUE(declared("# @perfgate.workload(n=[1])\ndef add(n, seed): pass\n").empty());
    EXPECT_TRUE(
        declared("if x:\n    @perfgate.workload(n=[1])\n    def add(n, seed): pass\n").empty());
    EXPECT_TRUE(declared("@perfgate.workload(n=[1])\nclass Add: pass\n").empty());
    EXPECT_TRUE(declared("@perfgate.other(n=[1])\ndef add(n, seed): pass\n").empty());
    EXPECT_EQ(1u, declared("@workload\ndef add(seed): pass\n").size());
    EXPECT_EQ(2u,
              declared("@workload()\ndef a(seed): pass\n@workload()\ndef b(seed): pass\n").size());
}

TEST(DeclaredWorkloads, RefuseATextThatEndsInTheMiddle) {
    for (const char* text : {"@workload(n=[1]", "'", "\"\"\"", "x = ']'\n)", "'a\n'"}) {
        EXPECT_THROW(declared(text), util::InputError) << text;
    }
}

TEST(DeclaredWorkloads, SurviveDeepNesting) {
    EXPECT_NE("", with("n=" + std::string(1000, '(') + "1" + std::string(1000, ')')).open);
    EXPECT_NE("", with("n=" + std::string(1000, '-') + "1").open);
}

}  // namespace
}  // namespace perfgate::python
