// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "traces/traces.hpp"
#include "util/error.hpp"
#include "util/temporary_folder.hpp"

namespace perfgate::traces {
namespace traces_nsight_systems_test {

using activity::MemoryKind;
using activity::Recording;

// Process 5, thread 6 of it, and process 7.
const std::string process5 = std::to_string((1LL << 48) | (5LL << 24));
const std::string thread6 = std::to_string((1LL << 48) | (5LL << 24) | 6);
const std::string thread8 = std::to_string((1LL << 48) | (7LL << 24) | 8);

const std::string tables = R"(
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    INSERT INTO StringIds VALUES (1, '_Z4gemmPf'), (2, 'gemm'), (3, 'cudaLaunchKernel_v7000'),
        (4, 'step'), (5, 'NCCL');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT,
        streamId INT, correlationId INT, globalPid INT, demangledName INT, mangledName INT,
        gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT,
        registersPerThread INT, staticSharedMemory INT, dynamicSharedMemory INT, graphNodeId INT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT,
        correlationId INT, nameId INT, returnValue INT);
)";

std::string kernel_row(const std::string& more = ", 2, 1, 8, 1, 1, 128, 1, 1, 40, 16, 32, NULL",
                       const std::string& times = "100, 220") {
    return "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + times + ", 1, 2, 7, 3, " + process5 +
           more + ");";
}

std::string call_row(const std::string& thread = thread6, int name = 3) {
    return "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (50, 60, " + thread + ", 3, " +
           std::to_string(name) + ", 0);";
}

class NsightSystems : public testing::Test {
  protected:
    std::filesystem::path made(const std::string& sql, const char* name = "t?.sqlite") {
        const std::filesystem::path path = folder_.path() / name;
        std::filesystem::remove(path);
        sqlite3* base = nullptr;
        EXPECT_EQ(sqlite3_open(path.c_str(), &base), SQLITE_OK);
        char* why = nullptr;
        EXPECT_EQ(sqlite3_exec(base, ("BEGIN;" + sql + "COMMIT").c_str(), nullptr, nullptr, &why),
                  SQLITE_OK)
            << why;
        sqlite3_close(base);
        return path;
    }
    std::vector<Recording> read(const std::string& sql) { return read_recordings(made(sql)); }
    Recording only(const std::string& sql) {
        std::vector<Recording> all = read(sql);
        EXPECT_EQ(all.size(), 1U);
        return all.front();
    }
    std::string refusal(const std::filesystem::path& path) {
        try {
            read_recordings(path);
        } catch (const util::InputError& error) {
            return error.what();
        }
        return "it was read";
    }

    util::TemporaryFolder folder_{"perfgate-traces"};
};

TEST_F(NsightSystems, KernelsAndCallsHaveTheirValues) {
    const Recording recording = only(tables + kernel_row() + call_row());
    ASSERT_EQ(recording.records.kernels.size(), 1U);
    const activity::Kernel& found = recording.records.kernels[0];
    EXPECT_EQ(found.start_ns, 100U);
    EXPECT_EQ(found.end_ns, 220U);
    EXPECT_EQ(found.place.device, 1U);
    EXPECT_EQ(found.place.stream, 7U);
    EXPECT_EQ(found.place.correlation, 3U);
    const activity::LaunchConfiguration& launch = recording.configurations.at(found.configuration);
    EXPECT_EQ(recording.text(launch.symbol), "_Z4gemmPf");
    EXPECT_EQ(launch.static_smem_bytes, 16U);
    EXPECT_EQ(launch.dynamic_smem_bytes, 32U);
    ASSERT_EQ(recording.records.api_calls.size(), 1U);
    EXPECT_EQ(recording.records.api_calls[0].thread, 6U);
    EXPECT_EQ(recording.text(recording.records.api_calls[0].name), "cudaLaunchKernel_v7000");
    EXPECT_EQ(recording.field("pid"), "5");
    EXPECT_EQ(recording.field("untold"), "");
    EXPECT_TRUE(recording.incomplete.empty());
}

TEST_F(NsightSystems, EachProcessIsARecordingIfItUsedCuda) {
    const std::vector<Recording> all = read(
        tables + kernel_row() + call_row() + call_row(thread8) +
        "CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid INT);"
        "INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 'alone', 16777216);");
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].field("pid"), "5");
    EXPECT_EQ(all[1].field("pid"), "7");
    EXPECT_TRUE(all[1].records.kernels.empty());
}

TEST_F(NsightSystems, CopiesHaveCuptisKindsOfMemory) {
    const Recording recording =
        only(tables + call_row() + R"(
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, streamId INT,
            globalPid INT, bytes INT, copyKind INT, srcKind INT, dstKind INT);
        INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 0, 7, )" +
             process5 + R"(, 64, 1, 0, 2),
            (1, 2, 0, 7, )" +
             process5 + R"(, 64, 12, 1, NULL), (1, 2, 0, 7, )" + process5 + ", 64, 99, 7, -1);");
    ASSERT_EQ(recording.records.copies.size(), 3U);
    EXPECT_EQ(recording.records.copies[0].source, MemoryKind::pageable);
    EXPECT_EQ(recording.records.copies[0].destination, MemoryKind::device);
    EXPECT_EQ(recording.records.copies[1].kind, activity::CopyKind::device_to_host)
        << "a migration of unified memory";
    EXPECT_EQ(recording.records.copies[1].source, MemoryKind::pinned);
    EXPECT_EQ(recording.records.copies[1].destination, MemoryKind::unknown);
    EXPECT_EQ(recording.records.copies[2].kind, activity::CopyKind::unknown);
    EXPECT_EQ(recording.records.copies[2].source, MemoryKind::unknown);
}

TEST_F(NsightSystems, RangesHaveNamesDomainsAndMayBeOpen) {
    const Recording recording = only(tables + call_row() + R"(
        CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid INT,
            textId INT, domainId INT, endGlobalTid INT);
        INSERT INTO NVTX_EVENTS VALUES (1, 9, 59, NULL, 0, 4, 0, NULL), (2, NULL, 60, 'open', 0, NULL, 2, NULL),
            (3, NULL, 34, 'mark', 0, NULL, 0, NULL), (0, NULL, 75, 'NCCL', 0, NULL, 2, NULL),
            (4, NULL, 33, 'category', 0, NULL, 0, NULL);
        UPDATE NVTX_EVENTS SET globalTid = )" +
                                     thread6 + ";");
    const std::vector<activity::Marker>& markers = recording.records.markers;
    ASSERT_EQ(markers.size(), 4U);
    EXPECT_EQ(recording.text(markers[0].name), "step");
    EXPECT_EQ(recording.text(markers[0].domain), "");
    EXPECT_EQ(markers[1].time_ns, 9U);
    EXPECT_EQ(recording.text(markers[2].name), "open");
    EXPECT_EQ(recording.text(markers[2].domain), "NCCL");
    EXPECT_EQ(markers[3].kind, activity::MarkerKind::instant);
}

TEST_F(NsightSystems, WhatTheExportSaysThatItLacksMakesItIncomplete) {
    EXPECT_EQ(only(tables + call_row() +
                   "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (globalPid INT);"
                   "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (" +
                   process5 + ");")
                  .incomplete.size(),
              1U);
    const std::vector<std::string> said =
        only(tables + call_row() +
             "CREATE TABLE DIAGNOSTIC_EVENT (severity INT, text TEXT, globalPid INT);"
             "INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 'fine', 0), (3, 'broken', 0), "
             "(2, 'Not all CUDA events might have been collected', 0), (2, 'a warning', 0);")
            .incomplete;
    ASSERT_EQ(said.size(), 2U);
    EXPECT_NE(said[0].find("broken"), std::string::npos);
    EXPECT_EQ(only(tables + call_row() +
                   kernel_row(", 2, 1, 8, 1, 1, 128, 1, 1, 40, 16, 32, NULL", "9, 3"))
                  .incomplete.size(),
              1U);
}

TEST_F(NsightSystems, LaunchesThatFailedOrLackTheirKernelsMakeItIncomplete) {
    const std::string other_call = "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = 4;";
    const std::string failed = "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET returnValue = 700;";
    const std::string row = ", 2, 1, 8, 1, 1, 128, 1, 1, 40, 16, 32, NULL";
    EXPECT_EQ(only(tables + kernel_row() + call_row() + other_call).incomplete,
              std::vector<std::string>{"the kernels of 1 launch are not on record"});
    EXPECT_EQ(only(tables + kernel_row() + call_row() + other_call + failed).incomplete,
              std::vector<std::string>{"a launch failed: cudaLaunchKernel_v7000 returned 700"});
    EXPECT_EQ(only(tables + call_row() + kernel_row(row, "100, 100")).incomplete,
              std::vector<std::string>{"1 records came without time stamps"});
}

TEST_F(NsightSystems, DevicesAreThoseOfTheProcess) {
    const Recording recording = only(tables + kernel_row() + call_row() + R"(
        CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, smCount INT, memoryBandwidth INT);
        INSERT INTO TARGET_INFO_GPU VALUES (0, 'small', 8, 1000), (4, 'large', 132, 2000);
        CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT, pid INT);
        INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (4, 1, 5), (0, 0, 99);
        CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO (nullStreamId INT, processId INT, deviceId INT, contextId INT);
        INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (7, 5, 1, 2), (7, 99, 0, 2);)");
    ASSERT_EQ(recording.records.devices.size(), 1U);
    EXPECT_EQ(recording.records.devices[0].id, 1U);
    EXPECT_EQ(recording.text(recording.records.devices[0].name), "large");
    EXPECT_EQ(recording.records.devices[0].sm_count, 132U);
    ASSERT_EQ(recording.records.contexts.size(), 1U);
    EXPECT_EQ(recording.records.contexts[0].null_stream, 7U);
}

TEST_F(NsightSystems, TheRankIsTheProgramsVariableOfTheFirstKnownName) {
    const std::string capture = R"(
        CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
        INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'SLURM_PROCID="7"'),
            ('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK="1"'), ('OTHER', 'RANK="9"'),
            ('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK="'), ('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK="x"');)";
    EXPECT_EQ(only(tables + call_row() + capture).field("rank"), "1");
    EXPECT_EQ(read(tables + call_row() + call_row(thread8) + capture)[0].field("rank"), "")
        << "it is of one of two";
}

TEST_F(NsightSystems, WhatAnExportLacksIsNotOnRecordOrIsRefused) {
    const std::string early = R"(
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO StringIds VALUES (1, 'gemm');
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT,
            correlationId INT, demangledName INT, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 7, 3, 1, 1, 1, 1, 1, 1, 1);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT);)";
    const auto calls = [](const std::string& thread) {
        return "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, " + thread + ");";
    };
    const Recording recording = only(early + calls(thread6));
    EXPECT_EQ(recording.field("pid"), "5") << "the only process";
    EXPECT_EQ(recording.field("untold"), "registers static_smem dynamic_smem");
    EXPECT_EQ(only(early).field("level"), "records");
    EXPECT_NE(refusal(made(early + calls(thread6) + calls(thread8))).find("without globalPid"),
              std::string::npos);
    EXPECT_NE(refusal(made(R"(CREATE TABLE StringIds (id INT, value TEXT);
                              CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT);)"))
                  .find("no column end"),
              std::string::npos);
    EXPECT_NE(
        refusal(made("CREATE TABLE StringIds (id INT, value TEXT);")).find("no CUDA activity"),
        std::string::npos);
    EXPECT_NE(refusal(made("CREATE TABLE processes (id INT);")).find("no table StringIds"),
              std::string::npos);
}

TEST_F(NsightSystems, NothingOfTheSchemaIsTrusted) {
    const std::string strings = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);";
    const std::string endless =
        "AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
        "SELECT x AS start, x AS end, x AS deviceId, x AS streamId FROM n;";
    EXPECT_NE(refusal(made(strings + "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL " + endless))
                  .find("no CUDA activity"),
              std::string::npos)
        << "a view is no table";
    EXPECT_NE(refusal(made(tables +
                           "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ('1', '2', 3, 4, 5, 0), "
                           "('one', 2, 3, 4, 5, 0);"))
                  .find("no integer"),
              std::string::npos);
    EXPECT_NE(refusal(made(tables +
                           kernel_row(", 2, 1, 8, 1, 1, 128, 1, 1, 40, 16, 32, NULL", "NULL, 5")))
                  .find("no integer"),
              std::string::npos);
}

TEST_F(NsightSystems, ADamagedFileIsRefused) {
    std::string rows = tables;
    for (int i = 0; i < 2000; ++i) rows += kernel_row() + call_row();
    const std::filesystem::path path = made(rows);
    const auto size = std::filesystem::file_size(path);
    std::filesystem::resize_file(path, size / 2);
    EXPECT_NE(refusal(path).find("SQLite"), std::string::npos);
    std::ofstream(path, std::ios::binary) << std::string("SQLite format 3\0", 16) << "nothing";
    EXPECT_NE(refusal(path).find("SQLite"), std::string::npos);
}

TEST_F(NsightSystems, TheFileAndItsFolderStayAsTheyAre) {
    const std::filesystem::path path = made(tables + kernel_row() + call_row());
    const auto before = std::filesystem::last_write_time(path);
    read_recordings(path);
    EXPECT_EQ(std::filesystem::last_write_time(path), before);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

}  // namespace traces_nsight_systems_test
}  // namespace perfgate::traces
