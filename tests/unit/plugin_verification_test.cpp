// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/verification.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>

#include "backend/plugin/loader.hpp"
#include "backend/plugin/output.hpp"
#include "util/error.hpp"

namespace perfgate::backend {
namespace {

using Strings = std::vector<std::string>;

/// A case on the host whose launch is the test's; x is filled with the seed, y with 0xff bytes.
struct FakeInstance final : Instance {
    void fill(std::uint64_t seed) override {
        events.emplace_back("fill");
        std::fill(x.begin(), x.end(), static_cast<float>(seed));
        if (poisons) std::memset(y.data(), 0xff, y.size() * sizeof(float));
    }
    void launch(void*) override {
        events.emplace_back("launch");
        ++launches;
        work(*this);
    }
    void reset(void*) override { events.emplace_back("reset"); }
    bool needs_reset() const override { return false; }
    pg_submission submission() const override { return how; }
    model::Verification verify() override {
        events.emplace_back("check");
        std::fill(y.begin(), y.end(), 0.0f);  // a check may use the output's memory
        return {right, 0, right ? "all elements" : "element 0"};
    }
    std::vector<Output> outputs() override {
        if (!names) return {};
        return names(*this);
    }

    static std::vector<Output> name_y(FakeInstance& self) {
        return {{"y", reinterpret_cast<std::uintptr_t>(self.y.data()),
                 self.y.size() * sizeof(float), sizeof(float), PG_ELEMENT_FLOAT}};
    }
    static void copy(FakeInstance& self) { self.y = self.x; }

    std::vector<float> x = std::vector<float>(16), y = std::vector<float>(16);
    std::function<void(FakeInstance&)> work = copy;
    std::function<std::vector<Output>(FakeInstance&)> names = name_y;
    pg_submission how = PG_ASYNC;
    bool right = true, poisons = true;
    int launches = 0;
    Strings events;
};

/// A copy that says what it was asked.
struct FakeKept final : KeptOutput {
    FakeKept(const Output& output, Strings& asked)
        : copy(output.data(), output.data() + output.bytes), events(asked) {}
    bool equals(const Output& now) override {
        events.emplace_back("compare");
        return std::equal(copy.begin(), copy.end(), now.data(), now.data() + now.bytes);
    }
    void read(std::uint64_t offset, std::span<std::byte> to) override {
        events.emplace_back("read");
        std::memcpy(to.data(), copy.data() + offset, to.size());
    }
    std::vector<std::byte> copy;
    Strings& events;
};

/// With graphs and copies where the outputs are, if the test says so.
struct FakeExecutor final : Executor {
    void launch(Instance& instance, const char*) override { instance.launch(nullptr); }
    void reset(Instance& instance) override { instance.reset(nullptr); }
    void read(const Output& output, std::uint64_t offset, std::span<std::byte> to) override {
        std::memcpy(to.data(), reinterpret_cast<const std::byte*>(output.address) + offset,
                    to.size());
    }
    void overwrite(const Output& output, std::byte with) override {
        overwritten.push_back(with);
        std::memset(reinterpret_cast<void*>(output.address), std::to_integer<int>(with),
                    output.bytes);
    }
    std::optional<GraphLaunch> launch_graph(Instance& instance,
                                            const std::function<void()>& captured) override {
        if (!graph || !graph->launched) return graph;
        if (let_through) instance.launch(nullptr);
        captured();
        if (!let_through) instance.launch(nullptr);
        return graph;
    }

    std::unique_ptr<KeptOutput> keep(const Output& output) override {
        if (!keeps) return nullptr;
        return std::make_unique<FakeKept>(output, kept);
    }

    std::optional<GraphLaunch> graph;
    bool keeps = false;
    Strings kept;
    bool let_through = false;  ///< the work runs while it should be captured
    std::vector<std::byte> overwritten;
};

struct Verifying {
    measure::Verified verify(const measure::Checks& checks = {true, true}) {
        return backend::verify(instance, executor, 9, checks);
    }
    std::string why_not() {
        const measure::Verified verified = verify();
        EXPECT_FALSE(verified.verification.passed) << verified.verification.detail;
        return verified.verification.detail;
    }
    FakeInstance instance;
    FakeExecutor executor;
};

TEST(Verification, LaunchesOnceUnlessRepeatsAreAskedFor) {
    Verifying one;
    const measure::Verified verified = one.verify({});
    EXPECT_TRUE(verified.verification.passed);
    EXPECT_EQ(verified.verification.seed, 9U);
    EXPECT_EQ(verified.verification.detail, "all elements");
    EXPECT_EQ(one.instance.events, (Strings{"fill", "launch", "check"}));
    EXPECT_TRUE(one.executor.overwritten.empty());
}

TEST(Verification, RepeatsFromTheSameInputsIntoOutputsThatWereOverwrittenOtherwise) {
    Verifying one;
    one.executor.graph = {true, ""};
    const measure::Verified verified = one.verify();
    EXPECT_TRUE(verified.verification.passed);
    EXPECT_EQ(verified.verification.detail,
              "all elements; equal bit for bit when launched again and by a CUDA graph (1 output, "
              "64 bytes)");
    EXPECT_EQ(verified.note, "");
    EXPECT_EQ(one.instance.events, (Strings{"fill", "launch", "check", "fill", "reset", "launch",
                                            "fill", "reset", "reset", "launch"}));
    ASSERT_EQ(one.executor.overwritten.size(), 3U);
    EXPECT_NE(one.executor.overwritten[0], one.executor.overwritten[1]);
    EXPECT_EQ(one.executor.overwritten[1], one.executor.overwritten[2]);
    EXPECT_NE(one.executor.overwritten[0], std::byte{0xff});
    EXPECT_NE(one.executor.overwritten[1], std::byte{0xff});
}

TEST(Verification, ADifferenceIsAWrongResultAndSaysWhereAndWhat) {
    Verifying one;
    one.instance.work = [](FakeInstance& self) {
        self.y = self.x;
        if (self.launches == 2) self.y[5] = 9.5f, self.y[7] = -1.0f;
    };
    EXPECT_EQ(one.why_not(),
              "not deterministic: launched again with the same inputs, output 'y' differs in 2 of "
              "16 elements (3 bytes): element 5 was 0x41100000 (9), is 0x41180000 (9.5)");
}

TEST(Verification, WhatIsKeptWhereItIsIsReadOnlyIfItDiffers) {
    Verifying equal;
    equal.executor.keeps = true;
    equal.executor.graph = {true, ""};
    EXPECT_TRUE(equal.verify().verification.passed);
    EXPECT_EQ(equal.executor.kept, (Strings{"compare", "compare"}));

    Verifying other;
    other.executor.keeps = true;
    other.instance.work = [](FakeInstance& self) {
        self.y = self.x;
        if (self.launches == 2) self.y[5] = 9.5f;
    };
    EXPECT_EQ(other.why_not(),
              "not deterministic: launched again with the same inputs, output 'y' differs in 1 of "
              "16 elements (1 byte): element 5 was 0x41100000 (9), is 0x41180000 (9.5)");
    EXPECT_EQ(other.executor.kept, (Strings{"compare", "read"}));
}

TEST(Verification, ADifferenceOfTheGraphAloneIsFound) {
    Verifying one;
    one.executor.graph = {true, ""};
    one.instance.work = [](FakeInstance& self) {
        self.y = self.x;
        if (self.launches == 3) self.y[15] = 0;
    };
    EXPECT_EQ(
        one.why_not(),
        "not deterministic: launched by a CUDA graph with the same inputs, output 'y' differs "
        "in 1 of 16 elements (2 bytes): element 15 was 0x41100000 (9), is 0x00000000 (0)");
}

TEST(Verification, WhatCannotBeCapturedIsSaid) {
    Verifying one;
    one.executor.graph = {false, "it waits"};
    const measure::Verified verified = one.verify();
    EXPECT_TRUE(verified.verification.passed);
    EXPECT_EQ(verified.verification.detail,
              "all elements; equal bit for bit when launched again, not by a CUDA graph (1 output, "
              "64 bytes)");
    EXPECT_EQ(
        verified.note,
        "deterministic: only the repeated launch was compared, none by a CUDA graph: it waits");
}

TEST(Verification, WhatRunsWhileItIsCapturedIsNotTheGraphs) {
    Verifying one;
    one.executor.graph = {true, ""};
    one.executor.let_through = true;
    EXPECT_NE(one.why_not().find("launched by a CUDA graph with the same inputs"),
              std::string::npos);
}

TEST(Verification, ALaunchThatIsAGraphIsNotCaptured) {
    Verifying one;
    one.instance.how = PG_GRAPH;
    one.executor.graph = {false, "never asked"};
    const measure::Verified verified = one.verify();
    EXPECT_EQ(verified.note, "");
    EXPECT_EQ(one.instance.launches, 2);
    EXPECT_NE(verified.verification.detail.find("each time by its own CUDA graph"),
              std::string::npos);
}

TEST(Verification, WhatALaunchLeavesOutIsFoundEvenIfFillDoesNotPoison) {
    for (const bool poisons : {true, false}) {
        Verifying one;
        one.instance.poisons = poisons;
        one.instance.work = [](FakeInstance& self) {
            // Only the first launch writes all of it.
            const std::size_t written = self.launches == 1 ? 16 : 12;
            std::copy_n(self.x.begin(), written, self.y.begin());
        };
        const std::string why = one.why_not();
        EXPECT_NE(why.find("differs in 4 of 16 elements (16 bytes): element 12 was 0x41100000 (9), "
                           "is 0x55555555"),
                  std::string::npos)
            << why;
        EXPECT_NE(why.find("as before the launch: it may not write it"), std::string::npos) << why;
    }
    Verifying never;
    never.instance.work = [](FakeInstance& self) {
        std::copy_n(self.x.begin(), 12, self.y.begin());
    };
    EXPECT_NE(never.why_not().find("element 12 was 0xffffffff (-nan), is 0x55555555"),
              std::string::npos);
}

TEST(Verification, EqualNaNsAreEqualAndZerosOfOtherSignsAreNot) {
    Verifying one;
    one.instance.work = [](FakeInstance& self) {
        self.y.assign(16, std::numeric_limits<float>::quiet_NaN());
    };
    EXPECT_TRUE(one.verify().verification.passed);
    one.instance.work = [](FakeInstance& self) {
        self.y.assign(16, self.launches % 2 == 0 ? -0.0f : 0.0f);
    };
    EXPECT_NE(one.why_not().find("0x00000000 (0), is 0x80000000 (-0)"), std::string::npos);
}

TEST(Verification, AWrongResultIsNotRepeated) {
    Verifying one;
    one.instance.right = false;
    EXPECT_EQ(one.why_not(), "element 0");
    EXPECT_EQ(one.instance.launches, 1);
}

TEST(Verification, WithoutOutputsItIsAnErrorAndNeverAPass) {
    Verifying one;
    one.instance.names = nullptr;
    EXPECT_THROW(one.verify(), util::Error);
    one.instance.right = false;
    EXPECT_EQ(one.why_not(), "element 0") << "a wrong result remains one";
}

TEST(Verification, WithoutAReferenceOnlyRepeatsAreCompared) {
    Verifying one;
    one.instance.right = false;
    const measure::Verified verified = one.verify({false, true});
    EXPECT_TRUE(verified.verification.passed);
    EXPECT_EQ(verified.verification.detail,
              "equal bit for bit when launched again (1 output, 64 bytes)");
    EXPECT_EQ(std::count(one.instance.events.begin(), one.instance.events.end(), "check"), 0);
}

TEST(Verification, OutputsMayMoveButNotChange) {
    Verifying moves;
    moves.instance.work = [](FakeInstance& self) { self.y = std::vector<float>(self.x); };
    EXPECT_TRUE(moves.verify().verification.passed);

    Verifying shrinks;
    shrinks.instance.work = [](FakeInstance& self) {
        self.y = self.x;
        if (self.launches > 1) self.y.resize(15);
    };
    EXPECT_NE(shrinks.why_not().find("output 'y' has 60 bytes in elements of 4, before 64"),
              std::string::npos);

    Verifying forgets;
    forgets.instance.names = [](FakeInstance& self) {
        return self.launches == 1 ? FakeInstance::name_y(self) : std::vector<Output>{};
    };
    EXPECT_NE(forgets.why_not().find("the case names 0 outputs, before it named 1"),
              std::string::npos);
}

TEST(Verification, SeveralOutputsAreAllCompared) {
    Verifying one;
    one.instance.names = [](FakeInstance& self) {
        std::vector<Output> both = FakeInstance::name_y(self);
        both.push_back(
            {"x", reinterpret_cast<std::uintptr_t>(self.x.data()), 64, 1, PG_ELEMENT_UNKNOWN});
        return both;
    };
    one.instance.work = [](FakeInstance& self) {
        self.y.assign(16, 1.0f);
        self.x.assign(16, static_cast<float>(self.launches));
    };
    EXPECT_NE(one.why_not().find("output 'x' differs in 32 of 64 bytes: byte 2 was 0x80, is 0x00"),
              std::string::npos);
    one.instance.launches = 0;
    one.instance.work = [](FakeInstance& self) {
        self.y.assign(16, static_cast<float>(self.launches));
        self.x = self.y;
    };
    const std::string why = one.why_not();
    EXPECT_NE(why.find("output 'y' differs in 16 of 16 elements"), std::string::npos) << why;
    EXPECT_NE(why.find("; 1 other output too"), std::string::npos) << why;
}

TEST(Verification, ALargeOutputIsComparedToItsEnd) {
    Verifying one;
    one.instance.x.resize((std::size_t{1} << 20) + 3);
    one.instance.y.resize(one.instance.x.size());
    one.instance.work = [](FakeInstance& self) {
        self.y = self.x;
        self.y.back() = static_cast<float>(self.launches);
    };
    EXPECT_NE(one.why_not().find("differs in 1 of 1048579 elements (2 bytes): element 1048578 was"),
              std::string::npos);
}

std::string text_of(std::initializer_list<unsigned char> bytes, std::uint32_t element) {
    std::vector<std::byte> value;
    for (const unsigned char byte : bytes) value.push_back(std::byte{byte});
    return value_text(value, element);
}

TEST(ValueText, HasTheBitsAndWhatTheyStandFor) {
    EXPECT_EQ(text_of({0x00, 0x3c}, PG_ELEMENT_FLOAT), "0x3c00 (1)");
    EXPECT_EQ(text_of({0x01, 0x80}, PG_ELEMENT_FLOAT), "0x8001 (-5.9605e-08)");
    EXPECT_EQ(text_of({0x00, 0x7c}, PG_ELEMENT_FLOAT), "0x7c00 (inf)");
    EXPECT_EQ(text_of({0x80, 0x3f}, PG_ELEMENT_BFLOAT16), "0x3f80 (1)");
    EXPECT_EQ(text_of({0xc0, 0x7f}, PG_ELEMENT_BFLOAT16), "0x7fc0 (nan)");
    EXPECT_EQ(text_of({0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, PG_ELEMENT_FLOAT), "0x3ff0000000000000 (1)");
    EXPECT_EQ(text_of({0xfe}, PG_ELEMENT_SIGNED), "0xfe (-2)");
    EXPECT_EQ(text_of({0xfe, 0xff}, PG_ELEMENT_UNSIGNED), "0xfffe (65534)");
    EXPECT_EQ(text_of({0, 0, 0, 0, 0, 0, 0, 0x80}, PG_ELEMENT_SIGNED),
              "0x8000000000000000 (-9223372036854775808)");
    EXPECT_EQ(text_of({1, 2, 3}, PG_ELEMENT_UNKNOWN), "0x030201");
    EXPECT_EQ(text_of({1, 2, 3}, PG_ELEMENT_FLOAT), "0x030201");
    EXPECT_EQ(text_of({1, 2, 3}, 4711), "0x030201");
    EXPECT_EQ(text_of({1, 2, 3, 4, 5, 6, 7, 8, 9}, PG_ELEMENT_UNSIGNED), "0x090807060504030201");
}

// --- what plugins name

std::string refused(const pg_output* output, int times = 1) {
    try {
        collect_outputs([&](const pg_outputs& list) {
            for (int i = 0; i < times; ++i) list.add(list.context, output);
        });
    } catch (const util::Error& error) {
        return error.what();
    }
    return "";
}

TEST(Outputs, AreTakenAsNamed) {
    float memory[4];
    const pg_output output{sizeof(pg_output), "y", memory, sizeof memory, 4, PG_ELEMENT_FLOAT};
    const pg_output bytes{sizeof(pg_output), nullptr, memory, 3, 0, 4711};
    const std::vector<Output> all = collect_outputs([&](const pg_outputs& list) {
        EXPECT_EQ(list.size, sizeof(pg_outputs));
        list.add(list.context, &output);
        list.add(list.context, &bytes);
    });
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].name, "y");
    EXPECT_EQ(all[0].address, reinterpret_cast<std::uintptr_t>(memory));
    EXPECT_EQ(all[0].element_bytes, 4U);
    EXPECT_EQ(all[1].name, "2");
    EXPECT_EQ(all[1].element_bytes, 1U);
    EXPECT_TRUE(collect_outputs([](const pg_outputs&) {}).empty());
}

TEST(Outputs, ThatCannotBeRightAreRefused) {
    float memory[4];
    const auto with = [&](auto change) {
        pg_output output{sizeof(pg_output), "y", memory, sizeof memory, 4, PG_ELEMENT_FLOAT};
        change(output);
        return refused(&output);
    };
    EXPECT_EQ(refused(nullptr), "outputs: output 1 is no pg_output of perfgate.h");
    EXPECT_EQ(with([](pg_output& o) { o.size = sizeof(pg_output) - 8; }),
              "outputs: output 1 is no pg_output of perfgate.h");
    EXPECT_EQ(with([](pg_output& o) { o.data = nullptr; }),
              "outputs: output 'y' is at no address (NULL)");
    EXPECT_EQ(with([](pg_output& o) { o.bytes = 0; }),
              "outputs: output 'y' has no bytes: nothing would be compared");
    EXPECT_EQ(with([](pg_output& o) { o.bytes = ~std::uint64_t{0}; }),
              "outputs: output 'y' of 18446744073709551615 bytes reaches beyond the address space");
    EXPECT_EQ(with([](pg_output& o) { o.bytes = std::uint64_t{1} << 60; }),
              "outputs: output 'y' has 1152921504606846976 bytes, more than this machine can keep "
              "a copy of");
    EXPECT_EQ(with([](pg_output& o) { o.element_bytes = 3; }),
              "outputs: output 'y' of 16 bytes cannot have elements of 3 bytes (at most 64)");
    EXPECT_NE(with([](pg_output& o) { o.element_bytes = 128, o.bytes = 256; }), "");
    EXPECT_EQ(with([](pg_output& o) { o.name = "\033[2J\n", o.bytes = 0; }),
              "outputs: output '?[2J?' has no bytes: nothing would be compared");
    EXPECT_EQ(with([](pg_output&) {}), "");
    pg_output one{sizeof(pg_output), "y", memory, sizeof memory, 4, PG_ELEMENT_FLOAT};
    EXPECT_EQ(refused(&one, 256), "");
    EXPECT_EQ(refused(&one, 100000), "outputs: the case names more than 256 outputs");
    // Together, too.
    one.bytes = std::uint64_t{1} << 32;
    EXPECT_NE(refused(&one, 256).find("more than this machine can keep"), std::string::npos);
}

/// A variant in C, of which the plugin's instance is `memory`.
struct CVariant {
    CVariant() {
        variant.size = sizeof(pg_variant);
        variant.create = [](const pg_variant*, const pg_host*, const pg_values*,
                            pg_instance** out) {
            static int instance;
            *out = reinterpret_cast<pg_instance*>(&instance);
            return PG_OK;
        };
        variant.destroy = [](pg_instance*) {};
    }
    std::vector<Output> outputs() const {
        const pg_values none{sizeof(pg_values), 0, nullptr};
        return PluginInstance(variant, &none).outputs();
    }
    pg_variant variant{};
};

TEST(Outputs, OfAnOlderPluginAreNotThere) {
    CVariant c;
    EXPECT_TRUE(c.outputs().empty());
    // What follows a smaller struct in memory is not part of it.
    c.variant.size = offsetof(pg_variant, outputs);
    c.variant.outputs = [](pg_instance*, const pg_outputs*) -> pg_status {
        ADD_FAILURE() << "called";
        return PG_OK;
    };
    EXPECT_TRUE(c.outputs().empty());
}

TEST(Outputs, ThatThePluginCannotNameAreAnError) {
    CVariant c;
    c.variant.outputs = [](pg_instance*, const pg_outputs*) { return PG_ERROR; };
    try {
        c.outputs();
        FAIL();
    } catch (const PluginError& error) {
        EXPECT_STREQ(error.what(), "outputs: the plugin gave no reason");
    }
}

}  // namespace
}  // namespace perfgate::backend
