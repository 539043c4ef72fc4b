// SPDX-License-Identifier: Apache-2.0
#include "kinds/python/declared.hpp"

#include <fmt/format.h>
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
    const auto found = declared("@perfgate.workload(" + arguments +
                                ")\ndef add(n=(1, [2]), *, seed):\n    pass\n");
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

TEST(DeclaredWorkloads, NeedAFunctionThatTakesTheirParameters) {
    for (const char* function :
         {"def f(m, seed, n): pass", "def f(*, seed: int = (1, 2), n: list[n] = [m]): pass",
          "def f[T, U](a, n=1, *, seed): pass", "def f(seed, **n): pass",
          "@gives_n\ndef f(seed): pass"}) {
        EXPECT_EQ(1u, declared(std::string("@workload(n=[1])\n") + function + "\n").size())
            << function;
    }
    for (const char* function : {"def f(m, seed): pass", "def f(): pass",
                                 "def f(m=n, seed=(n, n)): pass", "def f(m: n, seed"}) {
        EXPECT_THROW(declared(std::string("@other\n@workload(n=[1])\n") + function + "\n"),
                     util::InputError)
            << function;
    }
    try {
        declared("x = 1\n@workload(row=[1])\ndef softmax(rows, seed): pass\n");
        FAIL();
    } catch (const util::InputError& error) {
        EXPECT_STREQ(error.what(),
                     "kernels.py:2: the function of the workload 'softmax' has no parameter 'row'; "
                     "did you mean 'rows'?");
    }
}

TEST(DeclaredWorkloads, SurviveDeepNesting) {
    EXPECT_NE("", with("n=" + std::string(1000, '(') + "1" + std::string(1000, ')')).open);
    EXPECT_NE("", with("n=" + std::string(1000, '-') + "1").open);
}

/// What a change of this body, or of what is before the function, loosens: "rtol 0.001 > 0.1".
Texts loosened(const std::string& before, const std::string& after,
               const std::string& top_before = "", const std::string& top_after = "") {
    const auto of = [](const std::string& top, const std::string& body) {
        return declared(top + "@perfgate.workload()\ndef add(seed):\n" + body +
                        "\n@perfgate.workload()\ndef other(seed):\n    pass\n")
            .at(0)
            .tolerances;
    };
    Texts texts;
    for (const LooserTolerance& one :
         looser_tolerances(of(top_before, before), of(top_after, after))) {
        texts.push_back(one.name + " " + one.was + " > " + one.is);
    }
    return texts;
}

std::string returned(const std::string& arguments) {
    return "    return perfgate.Case(lambda a, b: f(a), " + arguments + ")\n";
}

TEST(Tolerances, ThatGrowAreListed) {
    EXPECT_EQ((Texts{"rtol 0.001 > 0.1"}), loosened(returned("rtol=1e-3"), returned("rtol=1e-1")));
    EXPECT_EQ((Texts{"atol 0 > 2"}), loosened(returned("rtol=1"), returned("rtol=1, atol=2")));
    EXPECT_EQ((Texts{}), loosened(returned("rtol=1e-3"), returned("rtol=1e-4")));
    EXPECT_EQ((Texts{}), loosened(returned("rtol=1e-3, atol=1"), returned("rtol=1e-3")));
    EXPECT_EQ((Texts{}), loosened(returned("rtol=1e-3"), returned("x=2, rtol=1_0e-4")));
}

TEST(Tolerances, AreFoundWhereverTheyAreStated) {
    for (const char* statement :
         {"    case.rtol = {}\n", "    case = dataclasses.replace(case, rtol={})\n",
          "    options = {{\"rtol\": {}}}\n", "    setattr(case, \"rtol\", {})\n",
          "    case.rtol *= {}\n", "    def of(rtol: float = {}): pass\n",
          "    return Case(lambda x, y: 1, [out], reference, {})\n", "    f(rtol := {})\n"}) {
        const auto with = [&](const char* value) {
            return fmt::format(fmt::runtime(statement), value);
        };
        EXPECT_EQ(1u, loosened(with("1e-3"), with("5")).size()) << statement;
        EXPECT_EQ(0u, loosened(with("1e-3"), with("1e-3")).size()) << statement;
        EXPECT_EQ(1u, loosened("    pass\n", "    pass\n", "", with("5")).size()) << statement;
    }
    EXPECT_EQ(0u, loosened("    if rtol == 1: pass\n", "    if rtol == 2: pass\n").size());
    EXPECT_EQ((Texts{"atol 0.1 > 0.2"}),
              loosened("    return Case(f, [out], reference, 1, 0.1)\n",
                       "    return Case(f, [out], reference, 1, 0.2)\n"));
}

TEST(Tolerances, AreFoundBehindALambdaAndItsDefaults) {
    for (const char* launch : {"lambda a, b=(1, 2): f(a, b)", "lambda: {1: 2}", "lambda *a: (a)"}) {
        const auto with = [&](const char* value) {
            return fmt::format("    return Case({}, [out], reference, {})\n", launch, value);
        };
        EXPECT_EQ(1u, loosened(with("1e-3"), with("5")).size()) << launch;
        EXPECT_EQ(0u, loosened(with("1e-3"), with("1e-3")).size()) << launch;
    }
}

TEST(Tolerances, OfDeeplyNestedTextsAreReadInLinearTime) {
    constexpr int depth = 100'000;
    std::string nested = "    x = ", chained = "    f(";
    for (int i = 0; i < depth; ++i) {
        nested += "Case(";
        chained += "rtol=";
    }
    nested += std::string(depth, ')') + "\n";
    chained += "1)\n";
    EXPECT_EQ(0u, loosened(nested, nested).size());
    EXPECT_EQ(1u, loosened(chained, chained).size());
}

TEST(Tolerances, ThatAreNoLiteralsAreComparedWithWhatTheirNamesAre) {
    EXPECT_EQ(
        (Texts{"rtol RTOL where RTOL = 1e-3 > RTOL where RTOL = 1e-1"}),
        loosened(returned("rtol=RTOL"), returned("rtol=RTOL"), "RTOL = 1e-3\n", "RTOL = 1e-1\n"));
    EXPECT_EQ(1u, loosened(returned("rtol=of[dtype]"), returned("rtol=of[dtype]"),
                           "of = {\"f16\": 1e-3}\n", "of = {\"f16\": 1}\n")
                      .size());
    EXPECT_EQ(1u, loosened(returned("rtol=of()"), returned("rtol=of()"),
                           "def of():\n    x = A\n    return x\nA = 1\n",
                           "def of():\n    x = A\n    return x\nA = 2\n")
                      .size());
    EXPECT_EQ(
        1u, loosened("    t = 1 / 3\n" + returned("rtol=t"), "    t = 2 / 3\n" + returned("rtol=t"))
                .size());
    EXPECT_EQ(2u, loosened(returned("**options"), returned("**options"), "options = dict(x=1)\n",
                           "options = dict(x=2)\n")
                      .size());
    EXPECT_EQ(0u, loosened(returned("rtol=RTOL"), returned("rtol=RTOL"), "RTOL = 1\nX = 1\n",
                           "X = 2\nRTOL = 1\n")
                      .size());
    EXPECT_EQ(1u, loosened(returned("rtol=RTOL"), returned("rtol=1"), "RTOL = 1\n").size());
}

TEST(Tolerances, AreComparedInTheirOrder) {
    const std::string two = "    if a: return Case(rtol=1e-6)\n    return Case(rtol=1e-3)\n";
    EXPECT_EQ((Texts{"rtol 1e-06, 0.001 > 0.001, 0.001"}),
              loosened(two, "    if a: return Case(rtol=1e-3)\n    return Case(rtol=1e-3)\n"));
    EXPECT_EQ(1u, loosened(two, "    return Case(rtol=1e-3)\n").size());
    EXPECT_EQ(0u, loosened(two, "    return Case(rtol=1e-6)\n").size());
}

TEST(Tolerances, OfOtherWorkloadsDoNotCount) {
    const std::string text =
        "@workload()\ndef a(seed):\n    return Case(rtol=1)\n\n\n@workload()\ndef b(seed):\n"
        "    return Case(rtol=2)\n";
    const auto found = declared(text);
    EXPECT_EQ((std::vector<double>{1}), found.at(0).tolerances.rtol.literals);
    EXPECT_EQ((std::vector<double>{2}), found.at(1).tolerances.rtol.literals);
    EXPECT_EQ(8u, found.at(1).tolerances.rtol.line);
}

TEST(Tolerances, ThatAreTooManyToReadMayBeLooser) {
    std::string many;
    for (int i = 0; i < 200; ++i) many += returned("rtol=0");
    EXPECT_EQ(1u, loosened(many, many).size());
    EXPECT_EQ(1u, loosened(returned("rtol=a"), returned("rtol=a"), "",
                           "a = \"" + std::string(20000, 'x') + "\"\n")
                      .size());
    EXPECT_EQ(
        0u, loosened(returned("rtol=A"), returned("rtol=A"), "A = A + A\n", "A = A + A\n").size());
}

}  // namespace
}  // namespace perfgate::python
