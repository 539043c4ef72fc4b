// SPDX-License-Identifier: Apache-2.0
#include "measure/worker.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "measure/protocol.hpp"
#include "unit/fake_backend.hpp"
#include "util/error.hpp"

namespace perfgate::measure {
namespace {

struct Pipe {
    Pipe() {
        std::array<int, 2> ends{};
        EXPECT_EQ(pipe(ends.data()), 0);
        from = ends[0];
        to = ends[1];
    }
    int from = -1, to = -1;
};

/// A request whose label is `number`.
std::string labelled(int number, const Request& request) {
    return std::to_string(number) + " " + write_request(request) + "\n";
}

MeasureRequest measure_request() {
    MeasureRequest request;
    request.result.spec = {fakes::workload, "plain", {}, model::Cache::cold};
    request.settings.metrics = {"gpu_time"};
    request.settings.time_budget_s = 0;
    return request;
}

struct Replied {
    std::string label;
    Reply reply;
};

/// A worker with a FakeBackend of one variant.
struct Served {
    explicit Served(fakes::FakeVariant variant_ = {}) : variant(std::move(variant_)) {}

    /// Serves the lines, which are all there when it begins.
    int serve_lines(const std::string& lines) {
        EXPECT_EQ(::write(requests.to, lines.data(), lines.size()),
                  static_cast<ssize_t>(lines.size()));
        ::close(requests.to);
        BackendSource source;
        source.list = [this](const std::string& wanted) {
            if (refuses_devices) throw util::InputError("no device " + wanted);
            return std::vector<ListedDevice>(listed_devices, {wanted, {}});
        };
        source.load = [this](const std::function<void(const std::string&)>& loading) {
            loading("fake.py");
            loading("");
            return opened > 0;
        };
        source.open = [this](const std::function<void(const std::string&)>& loading) {
            ++opened;
            loading("fake.so");
            loading("");
            auto backend = std::make_unique<fakes::FakeBackend>();
            backend->variants["plain"] = variant;
            backend->loses_device_counting = loses_device_counting;
            return backend;
        };
        return serve(source, requests.from, replies.to);
    }

    std::vector<Replied> read_replies() const {
        std::array<char, 65536> buffer;
        const ssize_t size = ::read(replies.from, buffer.data(), buffer.size());
        std::string_view left(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
        std::vector<Replied> found;
        while (!left.empty()) {
            const std::size_t end = left.find('\n');
            const Labelled line = split_label(left.substr(0, end));
            found.push_back({std::string(line.label), parse_reply(line.message)});
            left.remove_prefix(end + 1);
        }
        return found;
    }

    fakes::FakeVariant variant;
    bool loses_device_counting = false;
    bool refuses_devices = false;
    std::size_t listed_devices = 1;
    int opened = 0;
    Pipe requests, replies;
};

template <class Kind>
std::vector<const Kind*> of_kind(const std::vector<Replied>& replies) {
    std::vector<const Kind*> found;
    for (const Replied& one : replies) {
        if (const auto* kind = std::get_if<Kind>(&one.reply)) found.push_back(kind);
    }
    return found;
}

std::vector<std::string> phases(const std::vector<Replied>& replies) {
    std::vector<std::string> found;
    for (const PhaseReply* phase : of_kind<PhaseReply>(replies)) found.push_back(phase->phase);
    return found;
}

TEST(Worker, LoadsPluginsAndOpensNoDevice) {
    Served worker;
    EXPECT_EQ(worker.serve_lines(labelled(1, LoadRequest{})), 0);
    const std::vector<Replied> replies = worker.read_replies();
    EXPECT_EQ(phases(replies), (std::vector<std::string>{"loading fake.py", "loaded"}));
    ASSERT_EQ(of_kind<LoadedReply>(replies).size(), 1U);
    EXPECT_FALSE(of_kind<LoadedReply>(replies).front()->used_device);
    EXPECT_EQ(worker.opened, 0);
}

TEST(Worker, AnswersRequestsThatWaitOneAfterTheOtherWithTheirLabels) {
    Served worker;
    EXPECT_EQ(worker.serve_lines(labelled(1, DevicesRequest{"0"}) + labelled(2, DescribeRequest{}) +
                                 labelled(3, measure_request())),
              0);
    const std::vector<Replied> replies = worker.read_replies();
    ASSERT_GE(replies.size(), 3U);
    EXPECT_EQ(replies.front().label, "1");
    EXPECT_EQ(std::get<DevicesReply>(replies.front().reply).devices.at(0).id, "0");
    EXPECT_EQ(replies.back().label, "3");
    const auto& measured = std::get<MeasureReply>(replies.back().reply);
    EXPECT_EQ(measured.result.status, model::CaseStatus::measured);
    EXPECT_EQ(measured.result.metrics.at("gpu_time").value, 1000);
    EXPECT_FALSE(measured.device_lost);
    ASSERT_EQ(of_kind<DescribeReply>(replies).size(), 1U);
    EXPECT_EQ(of_kind<DescribeReply>(replies)[0]->capabilities.environment.device.board, "b1");
}

TEST(Worker, OpensItsBackendOnceAndOnlyWhereARequestNeedsIt) {
    Served lists;
    lists.serve_lines(labelled(1, DevicesRequest{"all"}));
    EXPECT_EQ(lists.opened, 0);
    Served measures;
    measures.serve_lines(labelled(1, DescribeRequest{}) + labelled(2, measure_request()));
    EXPECT_EQ(measures.opened, 1);
    EXPECT_EQ(
        phases(measures.read_replies()),
        (std::vector<std::string>{"loading fake.so", "loaded", "open", "set-up", "verify", "fill",
                                  "compile", "warm-up", "record", "time", "tear-down"}));
}

TEST(Worker, AnswersFactsAndCountersForEveryCase) {
    fakes::FakeVariant variant;
    variant.facts.memory_bytes = 4096;
    variant.launch.kernels = {fakes::kernel("first")};
    variant.counters.kernels = {"first"};
    variant.counters.values = {{{"smsp__inst_executed.sum", 10}}};
    Served worker(variant);
    CountersRequest::Job job{measure_request().result, measure_request().settings};
    job.result.kernels = variant.launch.kernels;
    job.settings.metrics = {"instructions"};
    worker.serve_lines(labelled(1, FactsRequest{{job.result, job.result}}) +
                       labelled(2, CountersRequest{{job, job}}));
    const std::vector<Replied> replies = worker.read_replies();
    ASSERT_EQ(of_kind<FactsReply>(replies).size(), 1U);
    ASSERT_EQ(of_kind<FactsReply>(replies)[0]->facts.size(), 2U);
    EXPECT_EQ(of_kind<FactsReply>(replies)[0]->facts[1].memory_bytes, 4096U);
    ASSERT_EQ(of_kind<CountersReply>(replies).size(), 1U);
    ASSERT_EQ(of_kind<CountersReply>(replies)[0]->results.size(), 2U);
    for (const auto& result : of_kind<CountersReply>(replies)[0]->results) {
        EXPECT_EQ(result.metrics.at("instructions").value, 10);
    }
}

TEST(Worker, SaysWhetherTheInputOrTheDeviceIsAtFault) {
    Served worker;
    worker.serve_lines("1 {\"do\":\"dance\"}\n");
    const std::vector<Replied> replies = worker.read_replies();
    ASSERT_EQ(replies.size(), 1U);
    const auto& failed = std::get<FailedReply>(replies[0].reply);
    EXPECT_NE(failed.message.find("dance"), std::string::npos) << failed.message;
    EXPECT_FALSE(failed.device_lost);
}

TEST(Worker, EndsAfterItHasReportedALostDevice) {
    fakes::FakeVariant variant;
    variant.fails_in = "time";
    variant.loses_device = true;
    Served worker(variant);
    EXPECT_EXIT(worker.serve_lines(labelled(1, measure_request()) + labelled(2, DescribeRequest{})),
                testing::ExitedWithCode(3), "");
    const std::vector<Replied> replies = worker.read_replies();
    EXPECT_TRUE(of_kind<DescribeReply>(replies).empty());
    ASSERT_EQ(of_kind<MeasureReply>(replies).size(), 1U);
    EXPECT_TRUE(of_kind<MeasureReply>(replies)[0]->device_lost);
    EXPECT_EQ(of_kind<MeasureReply>(replies)[0]->result.status, model::CaseStatus::error);
}

TEST(Worker, EndsWithoutItsCoordinator) {
    std::signal(SIGPIPE, SIG_IGN);  // as main does
    Served worker;
    ::close(worker.replies.from);
    EXPECT_EXIT(worker.serve_lines(labelled(1, DescribeRequest{})), testing::ExitedWithCode(3), "");
}

TEST(Worker, SaysOfAFailedRequestWhoseFaultItWas) {
    CountersRequest::Job job{measure_request().result, measure_request().settings};
    job.settings.metrics = {"instructions"};
    CountersRequest::Job gone = job;
    gone.result.spec.variant = "gone";
    gone.result.kernels = {fakes::kernel("first")};
    Served worker;
    worker.serve_lines(labelled(1, CountersRequest{{gone}}) +
                       labelled(2, FactsRequest{{gone.result}}) + labelled(3, BoardStateRequest{}));
    const std::vector<Replied> replies = worker.read_replies();
    const auto failures = of_kind<FailedReply>(replies);
    ASSERT_GE(failures.size(), 1U);
    for (const FailedReply* failed : failures) {
        EXPECT_FALSE(failed->usage);
        EXPECT_FALSE(failed->device_lost);
    }
    EXPECT_EQ(of_kind<BoardStateReply>(replies).size(), 1U);
}

TEST(Worker, EndsAfterADeviceWasLostOverCounters) {
    CountersRequest::Job job{measure_request().result, measure_request().settings};
    job.settings.metrics = {"instructions"};
    Served worker;
    worker.loses_device_counting = true;
    EXPECT_EXIT(
        worker.serve_lines(labelled(1, CountersRequest{{job}}) + labelled(2, DescribeRequest{})),
        testing::ExitedWithCode(3), "");
    const std::vector<Replied> replies = worker.read_replies();
    const auto failures = of_kind<FailedReply>(replies);
    ASSERT_EQ(failures.size(), 1U);
    EXPECT_EQ(failures[0]->message, "collect failed");
    EXPECT_FALSE(failures[0]->usage);
    EXPECT_TRUE(failures[0]->device_lost);
    EXPECT_TRUE(of_kind<DescribeReply>(replies).empty());
}

TEST(Worker, AnInputThatIsAtFaultIsSaidToBe) {
    Served worker;
    worker.refuses_devices = true;
    worker.serve_lines(labelled(1, DevicesRequest{"9"}));
    const std::vector<Replied> replies = worker.read_replies();
    ASSERT_EQ(replies.size(), 1U);
    const auto& failed = std::get<FailedReply>(replies[0].reply);
    EXPECT_EQ(failed.message, "no device 9");
    EXPECT_TRUE(failed.usage);
    EXPECT_FALSE(failed.device_lost);
}

TEST(Worker, AReplyThatIsWrittenInPiecesArrivesWhole) {
    // A signal cuts short what is written to a pipe that is full.
    struct sigaction action {};
    struct sigaction before {};
    action.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &action, &before);
    sigset_t alarm{};
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    ::pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
    Served worker;
    worker.listed_devices = 20'000;
    std::string text;
    std::thread reader([&] {
        std::array<char, 1000> buffer;
        while (text.find('\n') == std::string::npos) {
            ::usleep(200);
            const ssize_t size = ::read(worker.replies.from, buffer.data(), buffer.size());
            if (size <= 0) break;
            text.append(buffer.data(), static_cast<std::size_t>(size));
        }
    });
    ::pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
    const itimerval often{{0, 2000}, {0, 2000}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    EXPECT_EQ(worker.serve_lines(labelled(1, DevicesRequest{"x"})), 0);
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    reader.join();
    ::sigaction(SIGALRM, &before, nullptr);
    ASSERT_TRUE(text.ends_with('\n'));
    const Labelled line = split_label(std::string_view(text).substr(0, text.find('\n')));
    const auto reply = parse_reply(line.message);
    EXPECT_EQ(std::get<DevicesReply>(reply).devices.size(), 20'000U);
}

}  // namespace
}  // namespace perfgate::measure
