// SPDX-License-Identifier: Apache-2.0
// The recorded stream: what the writer wrote is read back; what is cut, damaged or unknown makes
// the recording incomplete and never harms the reader.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "activity/recording.hpp"
#include "activity/writer.hpp"
#include "unit/temporary_folder.hpp"
#include "util/error.hpp"

namespace perfgate::activity {
namespace {

constexpr std::uint64_t large = std::uint64_t{1} << 30;

class Stream : public testing::Test {
  protected:
    [[nodiscard]] std::string path(const std::string& name = "one.activity") const {
        return folder_ / name;
    }
    [[nodiscard]] static std::string content(const std::string& file) {
        std::ifstream stream(file, std::ios::binary);
        return (std::stringstream() << stream.rdbuf()).str();
    }

    TemporaryFolder temporary_;
    std::filesystem::path folder_ = temporary_.path();
};

Kernel kernel(Writer& writer, std::string_view symbol, std::uint64_t start, std::uint64_t end) {
    LaunchConfiguration configuration;
    configuration.symbol = writer.string(symbol);
    configuration.grid = {7, 1, 1};
    Kernel kernel;
    kernel.start_ns = start;
    kernel.end_ns = end;
    kernel.place.correlation = static_cast<std::uint32_t>(start);
    kernel.configuration = writer.configuration(configuration);
    return kernel;
}

/// A recording of two blocks of kernels.
std::string small(const std::string& file) {
    Writer writer;
    EXPECT_EQ(0, writer.open(file.c_str(), {{"pid", "12"}, {"command", "a b"}}, large));
    for (int block = 0; block < 2; ++block) {
        Records records;
        records.kernels = {kernel(writer, "gemm", 10, 20), kernel(writer, "gemm", 30, 40),
                           kernel(writer, "softmax", 50, 60)};
        Marker marker;
        marker.name = writer.string("step");
        records.markers = {marker};
        EXPECT_TRUE(writer.append(records));
    }
    writer.end("exit");
    return file;
}

TEST_F(Stream, is_read_as_it_was_written) {
    const Recording recording = read_recording(small(path()));
    EXPECT_EQ("12", recording.field("pid"));
    EXPECT_EQ("a b", recording.field("command"));
    EXPECT_EQ("", recording.field("rank"));
    EXPECT_TRUE(recording.incomplete.empty());
    EXPECT_EQ("exit", recording.end);
    ASSERT_EQ(6u, recording.records.kernels.size());
    const Kernel& last = recording.records.kernels.back();
    EXPECT_EQ(50u, last.start_ns);
    const LaunchConfiguration& configuration = recording.configurations[last.configuration];
    EXPECT_EQ("softmax", recording.text(configuration.symbol));
    EXPECT_EQ(7u, configuration.grid[0]);
    ASSERT_EQ(2u, recording.records.markers.size());
    EXPECT_EQ("step", recording.text(recording.records.markers[0].name));
    // Strings and configurations are there once.
    EXPECT_EQ(4u, recording.strings.size());
    EXPECT_EQ(3u, recording.configurations.size());
}

TEST_F(Stream, every_cut_is_incomplete_and_keeps_what_came_before) {
    const std::string whole = content(small(path()));
    for (std::size_t size = sizeof(Prologue); size < whole.size(); ++size) {
        const Recording recording = parse_recording(std::string_view(whole).substr(0, size), "cut");
        ASSERT_EQ(1u, recording.incomplete.size()) << size;
        ASSERT_TRUE(recording.records.kernels.size() % 3 == 0);
    }
    for (std::size_t size = 0; size < sizeof(Prologue); ++size) {
        EXPECT_THROW(parse_recording(whole.substr(0, size), "cut"), util::InputError);
    }
}

TEST_F(Stream, every_flipped_byte_is_incomplete) {
    const std::string whole = content(small(path()));
    for (std::size_t i = sizeof(Prologue); i < whole.size(); ++i) {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
        ASSERT_FALSE(parse_recording(damaged, "flipped").incomplete.empty()) << i;
    }
}

TEST_F(Stream, random_bytes_are_survived) {
    std::mt19937 random(7);
    std::string bytes = content(small(path()));
    bytes.resize(sizeof(Prologue));
    for (int round = 0; round < 2000; ++round) {
        std::string input = bytes;
        for (int i = 0; i < 64; ++i) input += static_cast<char>(random());
        EXPECT_FALSE(parse_recording(input, "random").incomplete.empty());
    }
}

TEST_F(Stream, other_files_and_versions_are_refused) {
    std::string bytes = content(small(path()));
    EXPECT_THROW(parse_recording("", "empty"), util::InputError);
    EXPECT_THROW(parse_recording("{\"schema\": \"perfgate.run\"}   ", "run"), util::InputError);
    for (const char version : {1, 2, 3, 4, 5}) {
        bytes[20] = version;
        EXPECT_EQ(6u, parse_recording(bytes, "old.activity").records.kernels.size());
    }
    bytes[20] = 6;
    try {
        parse_recording(bytes, "new.activity");
        FAIL();
    } catch (const util::InputError& error) {
        EXPECT_STREQ(
            "new.activity is a recording of version 6, this perfgate reads versions 1 to 5; "
            "record it again",
            error.what());
    }
    EXPECT_THROW(read_recording(path("absent")), util::InputError);
    EXPECT_THROW(read_recording("/dev/zero"), util::InputError);
    EXPECT_THROW(recordings_in(path("absent")), util::InputError);
    EXPECT_THROW(recordings_in("/proc/self/fd"), util::InputError);
}

/// A block that is valid but for what is in it.
std::string block(std::uint32_t kind, const std::string& payload) {
    BlockHeader header;
    header.kind = kind;
    header.payload_bytes = static_cast<std::uint32_t>(payload.size());
    header.checksum = block_checksum(header, std::as_bytes(std::span(payload)));
    return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) + payload;
}

TEST_F(Stream, what_a_hostile_writer_could_say_is_incomplete) {
    std::string head = content(small(path()));
    head.resize(sizeof(Prologue));
    const std::string header = block(1, "");
    const auto number = [](std::uint32_t value) {
        return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
    };
    const std::vector<std::pair<const char*, std::string>> inputs = {
        {"an unknown block", header + block(99, "")},
        {"a second header", header + header},
        {"no header", block(19, number(4) + "exit")},
        {"kernels of half a record", header + block(4, std::string(57, '\0'))},
        {"a text that is longer than its block", header + block(18, number(50) + "short")},
        {"a text that is longer than any", header + block(18, number(0xffffffff) + "short")},
        {"an id that skips", header + block(2, number(7) + number(1) + "a")},
        {"an id that is there", header + block(2, number(0) + number(1) + "a")},
        {"a record without its text", header + block(15, number(5) + number(0))},
        {"no counts", header + block(17, "")},
        {"a marker of another kind",
         header + block(11, std::string(12, '\0') + number(9) + std::string(16, '\0'))},
        {"a profiler call of another kind", header + block(27, std::string(12, '\0') + number(9))},
        {"a stack that is its own caller", header + block(28, number(1) + std::string(12, '\0'))},
        {"a sample of no stack", header + block(29, std::string(24, '\0') + number(1) + number(0))},
        {"a sample of another state", header + block(29, std::string(28, '\0') + number(10))},
        {"a sample that ends before it starts",
         header + block(29, number(1) + std::string(28, '\0'))},
        {"a thread without its name", header + block(30, std::string(8, '\0') + number(1))},
        {"sampling of an unknown interpreter",
         header + block(31, std::string(48, '\0') + number(1) + number(0))},
        {"something after the end",
         header + block(19, number(4) + "exit") + block(18, number(1) + "a")},
        {"an end without a word", header + block(19, number(0))},
    };
    for (const auto& [name, input] : inputs) {
        const Recording recording = parse_recording(head + input, "hostile");
        ASSERT_EQ(1u, recording.incomplete.size()) << name;
        EXPECT_NE(std::string::npos, recording.incomplete[0].find("damaged at byte")) << name;
    }
}

TEST_F(Stream, of_a_block_that_refers_to_nothing_no_record_stays) {
    std::string head = content(small(path()));
    head.resize(sizeof(Prologue));
    const auto bytes = [](const auto& record) {
        return std::string(reinterpret_cast<const char*>(&record), sizeof(record));
    };
    const std::string codes = bytes(FunctionCode{0, 0}) + bytes(FunctionCode{1000000, 0});
    Kernel kernel;
    kernel.configuration = 1000000;
    const Recording recording = parse_recording(head + block(1, "") + block(15, codes), "codes");
    EXPECT_EQ(1u, recording.incomplete.size());
    EXPECT_TRUE(recording.records.function_codes.empty());
    EXPECT_TRUE(parse_recording(head + block(1, "") + block(4, bytes(kernel)), "kernels")
                    .records.kernels.empty());
}

TEST_F(Stream, counted_losses_make_it_incomplete) {
    const std::vector<std::pair<std::uint64_t Counts::*, const char*>> losses = {
        {&Counts::dropped_records, "3 records were dropped by CUPTI"},
        {&Counts::without_time, "3 records came without time stamps"},
        {&Counts::reversed_time, "3 records end before they start"},
        {&Counts::unread_records, "3 records could not be stored"},
        {&Counts::over_limit_records, "3 records came after the recording was full"},
        {&Counts::refused_buffers, "3 times CUPTI found no memory for records"},
    };
    for (const auto& [field, message] : losses) {
        Writer writer;
        const std::string file = path(message);
        writer.open(file.c_str(), {}, large);
        Counts counts;
        counts.*field = 3;
        EXPECT_TRUE(writer.append(counts));
        writer.end("exit");
        EXPECT_EQ(std::vector<std::string>{message}, read_recording(file).incomplete);
    }
}

TEST_F(Stream, fewer_records_than_launches_never_pass) {
    const auto incomplete = [&](Counts counts, std::uint64_t graph_node) {
        counts.counted_with_callbacks = 1;
        Writer writer;
        const std::string file = path("counts.activity");
        std::filesystem::remove(file);
        writer.open(file.c_str(), {}, large);
        Records records;
        for (int i = 0; i < 3; ++i) {
            records.kernels.push_back(kernel(writer, "k", 1, 2));
            records.kernels.back().graph.node = graph_node;
            records.kernels.back().place.correlation = i == 0 ? 1 : 2;
        }
        writer.append(records);
        writer.append(counts);
        writer.end("exit");
        return read_recording(file).incomplete;
    };
    using Reasons = std::vector<std::string>;
    Counts counts;
    counts.kernel_launches = 3;
    EXPECT_EQ(Reasons{}, incomplete(counts, 0));
    counts.kernel_launches = 4;
    EXPECT_EQ(Reasons{"kernels launched: 4, recorded: 3"}, incomplete(counts, 0));
    counts.captured_launches = 1;  // one went into a graph
    EXPECT_EQ(Reasons{}, incomplete(counts, 0));
    // Kernels of graphs do not stand for launches.
    EXPECT_EQ(Reasons{"kernels launched: 3, recorded: 0"}, incomplete(counts, 5));
    counts = {};
    counts.graph_launches = 2;
    EXPECT_EQ(Reasons{}, incomplete(counts, 5));
    counts.graph_launches = 3;
    EXPECT_EQ(Reasons{"3 graphs were launched and work of 2 recorded"}, incomplete(counts, 5));
}

TEST_F(Stream, its_size_is_bounded) {
    Writer writer;
    constexpr std::uint64_t limit = 300'000;
    ASSERT_EQ(0, writer.open(path().c_str(), {}, limit));
    Records records;
    records.kernels.resize(1000);
    int written = 0;
    while (writer.append(records)) ++written;
    EXPECT_EQ(4, written);
    EXPECT_FALSE(writer.append(records));
    EXPECT_TRUE(writer.append(Counts{}));
    writer.end("exit");
    EXPECT_LE(std::filesystem::file_size(path()), limit);
    const Recording recording = read_recording(path());
    EXPECT_EQ(4000u, recording.records.kernels.size());
    EXPECT_EQ(std::vector<std::string>{"the recording reached its limit of 0 MiB, so that what "
                                       "came later is missing"},
              recording.incomplete);
}

TEST_F(Stream, a_program_with_endless_names_does_not_fill_its_memory) {
    Writer writer;
    ASSERT_EQ(0, writer.open(path().c_str(), {}, large));
    for (int i = 0; i < 200'000; ++i) {
        Records records;
        Marker marker;
        marker.name = writer.string("step " + std::to_string(i));
        records.markers = {marker};
        if (i % 10'000 == 0 || i == 199'999) {
            ASSERT_TRUE(writer.append(records));
        }
    }
    const std::string long_name(max_string_bytes + 5, 'x');
    Records records;
    records.markers.resize(1);
    records.markers[0].name = writer.string(long_name);
    ASSERT_TRUE(writer.append(records));
    writer.end("exit");
    const Recording recording = read_recording(path());
    EXPECT_TRUE(recording.incomplete.empty());
    EXPECT_EQ("step 199999", recording.text(recording.records.markers[20].name));
    EXPECT_EQ(max_string_bytes, recording.text(recording.records.markers[21].name).size());
}

/// Bytes that this process has allocated.
std::size_t allocated_bytes() {
    return mallinfo2().uordblks + mallinfo2().hblkhd;
}

/// Long names, of which each is another one.
void name_endlessly(Writer& writer, int count) {
    std::string name(20'000, 'x');
    for (int i = 0; i < count; ++i) {
        name.replace(0, 6, std::to_string(100'000 + i));
        writer.string(name);
    }
}

TEST_F(Stream, names_without_records_are_written_and_reach_the_limit) {
    Writer writer;
    constexpr std::uint64_t limit = 4'000'000;
    ASSERT_EQ(0, writer.open(path().c_str(), {}, limit));
    name_endlessly(writer, 1000);
    EXPECT_FALSE(writer.append(Records{}));
    writer.end("exit");
    EXPECT_LE(std::filesystem::file_size(path()), limit);
    EXPECT_EQ(std::vector<std::string>{"the recording reached its limit of 3 MiB, so that what "
                                       "came later is missing"},
              read_recording(path()).incomplete);
}

TEST_F(Stream, names_that_come_once_it_is_full_or_abandoned_are_not_kept) {
    for (const bool full : {true, false}) {
        Writer writer;
        const std::string file = path(full ? "full" : "abandoned");
        ASSERT_EQ(0, writer.open(file.c_str(), {}, full ? 100'000 : large));
        if (full) {
            Records records;
            records.kernels.resize(2000);
            ASSERT_FALSE(writer.append(records));
        } else {
            writer.abandon();
        }
        const std::size_t before = allocated_bytes();
        name_endlessly(writer, 1000);
        LaunchConfiguration configuration;
        for (configuration.symbol = 1; configuration.symbol < 10'000; ++configuration.symbol) {
            writer.configuration(configuration);
        }
        EXPECT_LT(allocated_bytes(), before + 100'000) << file;
    }
}

TEST_F(Stream, long_names_do_not_fill_the_table) {
    Writer writer;
    ASSERT_EQ(0, writer.open(path().c_str(), {}, large));
    const std::size_t before = allocated_bytes();
    name_endlessly(writer, 10'000);  // 200 MB
    EXPECT_LT(allocated_bytes(), before + 100'000'000);
    writer.end("exit");
    EXPECT_TRUE(read_recording(path()).incomplete.empty());
}

TEST_F(Stream, an_existing_file_is_not_touched) {
    small(path());
    Writer writer;
    EXPECT_EQ(EEXIST, writer.open(path().c_str(), {}, large));
    EXPECT_FALSE(writer.is_open());
    EXPECT_FALSE(writer.append(Records{}));
    writer.end("exit");
    EXPECT_TRUE(read_recording(path()).incomplete.empty());
    EXPECT_EQ(ENOENT, writer.open(path("no/folder").c_str(), {}, large));
}

TEST_F(Stream, threads_write_one_after_the_other) {
    Writer writer;
    ASSERT_EQ(0, writer.open(path().c_str(), {}, large));
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (int i = 0; i < 100; ++i) {
                Records records;
                records.kernels = {kernel(writer, "k" + std::to_string((thread + i) % 50), 1, 2)};
                EXPECT_TRUE(writer.append(records));
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    writer.end("exit");
    const Recording recording = read_recording(path());
    EXPECT_TRUE(recording.incomplete.empty());
    EXPECT_EQ(400u, recording.records.kernels.size());
    EXPECT_EQ(51u, recording.configurations.size());
}

// A limit on the size of files stands for a full disk; its signal would end the program.
TEST_F(Stream, a_full_disk_ends_the_recording_and_not_the_program) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit limit{100'000, 100'000};
        setrlimit(RLIMIT_FSIZE, &limit);
        std::signal(SIGXFSZ, SIG_DFL);
        Writer writer;
        bool good = writer.open(path().c_str(), {}, large) == 0;
        Records records;
        records.kernels.resize(1000);
        good = good && writer.append(records) && !writer.append(records);
        records.kernels.resize(1);
        good = good && !writer.append(records);  // it would fit, but something is missing before it
        good = good && writer.append(Counts{});
        writer.end("exit");
        _exit(good ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
    EXPECT_EQ(0, WEXITSTATUS(status));
    const Recording recording = read_recording(path());
    EXPECT_EQ(1000u, recording.records.kernels.size());
    EXPECT_EQ("exit", recording.end);
    EXPECT_EQ(std::vector<std::string>{"the recording could not be written: File too large"},
              recording.incomplete);
}

TEST_F(Stream, the_recordings_of_a_folder) {
    small(path("b.activity"));
    small(path("a.activity"));
    std::ofstream(path("notes.txt")) << "no recording";
    const auto files = recordings_in(folder_);
    ASSERT_EQ(2u, files.size());
    EXPECT_EQ("a.activity", files[0].filename());
}

}  // namespace
}  // namespace perfgate::activity
