// SPDX-License-Identifier: Apache-2.0
#include "measure/worker.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <optional>

#include "measure/protocol.hpp"
#include "model/error.hpp"

namespace perfgate::measure {
namespace {

class LineReader {
  public:
    explicit LineReader(int fd) : fd_(fd) {}

    std::optional<std::string> next() {
        for (;;) {
            if (const std::size_t newline = pending_.find('\n'); newline != std::string::npos) {
                std::string line = pending_.substr(0, newline);
                pending_.erase(0, newline + 1);
                return line;
            }
            std::array<char, 65536> buffer;
            const ssize_t count = ::read(fd_, buffer.data(), buffer.size());
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) return std::nullopt;
            pending_.append(buffer.data(), static_cast<std::size_t>(count));
        }
    }

  private:
    int fd_;
    std::string pending_;
};

/// False where the coordinator is gone.
bool reply(int fd, const Reply& what) {
    const std::string line = write_reply(what) + "\n";
    std::size_t written = 0;
    while (written < line.size()) {
        const ssize_t count = ::write(fd, line.data() + written, line.size() - written);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        written += static_cast<std::size_t>(count);
    }
    return true;
}

class Server {
  public:
    Server(const BackendSource& source, int replies_fd)
        : source_(source), replies_fd_(replies_fd) {}

    Reply operator()(const DevicesRequest& request) {
        return DevicesReply{source_.list(request.wanted)};
    }
    Reply operator()(const DescribeRequest&) { return DescribeReply{backend().capabilities()}; }
    Reply operator()(const DiagnoseRequest&) { return DiagnoseReply{backend().diagnose()}; }
    Reply operator()(const BoardStateRequest&) { return BoardStateReply{backend().board_state()}; }
    Reply operator()(const CeilingsRequest&) { return CeilingsReply{backend().ceilings()}; }
    Reply operator()(const FactsRequest& request) {
        FactsReply facts;
        for (const model::CaseResult& entry : request.cases)
            facts.facts.push_back(backend().facts(entry.spec));
        return facts;
    }
    Reply operator()(const MeasureRequest& request) {
        MeasureReply measured{request.result, false};
        try {
            measurement().measure(measured.result, request.settings, observer());
        } catch (const DeviceLost&) {
            measured.device_lost = true;
        }
        return measured;
    }
    Reply operator()(const CountersRequest& request) {
        CountersReply counters;
        for (const auto& job : request.jobs) counters.results.push_back(job.result);
        std::vector<CaseMeasurement::CounterJob> jobs;
        for (std::size_t i = 0; i < request.jobs.size(); ++i)
            jobs.push_back({&counters.results[i], request.jobs[i].settings});
        measurement().collect_counters(jobs, observer());
        return counters;
    }

  private:
    Backend& backend() {
        if (!backend_) backend_ = source_.open();
        return *backend_;
    }
    CaseMeasurement& measurement() {
        if (!measurement_) measurement_.emplace(backend());
        return *measurement_;
    }

    PhaseObserver observer() {
        return
            [this](std::string_view phase) { reply(replies_fd_, PhaseReply{std::string(phase)}); };
    }

    const BackendSource& source_;
    int replies_fd_;
    std::unique_ptr<Backend> backend_;
    std::optional<CaseMeasurement> measurement_;
};

}  // namespace

int serve(const BackendSource& source, int requests_fd, int replies_fd) {
    LineReader requests(requests_fd);
    Server server(source, replies_fd);
    while (const std::optional<std::string> line = requests.next()) {
        Reply answer;
        bool lost = false;
        try {
            answer = std::visit(std::ref(server), parse_request(*line));
            if (const auto* measured = std::get_if<MeasureReply>(&answer))
                lost = measured->device_lost;
        } catch (const DeviceLost& error) {
            answer = FailedReply{error.what(), false, true};
            lost = true;
        } catch (const model::InputError& error) {
            answer = FailedReply{error.what(), true, false};
        } catch (const std::exception& error) {
            answer = FailedReply{error.what(), false, false};
        }
        if (!reply(replies_fd, answer)) return 3;
        // The context is broken: destructors that call the driver could hang or crash.
        if (lost) _exit(3);
    }
    return 0;
}

}  // namespace perfgate::measure
