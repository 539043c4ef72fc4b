// SPDX-License-Identifier: Apache-2.0
#include "measure/worker.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <string_view>

#include "measure/protocol.hpp"
#include "util/error.hpp"

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

/// Moves `fd` to another number, closed on exec.
int take_descriptor(int fd) {
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    if (moved < 0) return fd;
    ::close(fd);
    return moved;
}

/// If memory runs out, the kernel should kill the worker, which costs a case, not the coordinator,
/// which costs the run.
void be_ended_first() {
    std::ofstream("/proc/self/oom_score_adj") << 500;
}

/// False if the coordinator is gone.
bool reply(int fd, std::string_view label, const Reply& what) {
    const std::string line = std::string(label) + " " + write_reply(what) + "\n";
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

    /// Executes the request and replies. False if the worker must end.
    bool serve(const std::string& line) {
        const Labelled request = split_label(line);
        label_ = request.label;
        Reply answer;
        bool lost = false;
        try {
            answer = std::visit(std::ref(*this), parse_request(request.message));
            if (const auto* measured = std::get_if<MeasureReply>(&answer)) {
                lost = measured->device_lost;
            }
        } catch (const DeviceLost& error) {
            answer = FailedReply{error.what(), false, true};
            lost = true;
        } catch (const util::InputError& error) {
            answer = FailedReply{error.what(), true, false};
        } catch (const std::exception& error) {
            answer = FailedReply{error.what(), false, false};
        }
        tell(answer);
        return !lost;
    }

    Reply operator()(const DevicesRequest& request) {
        return DevicesReply{source_.list(request.wanted)};
    }
    Reply operator()(const DescribeRequest&) { return DescribeReply{backend().capabilities()}; }
    Reply operator()(const DiagnoseRequest&) { return DiagnoseReply{backend().diagnose()}; }
    Reply operator()(const BoardStateRequest&) { return BoardStateReply{backend().board_state()}; }
    Reply operator()(const CeilingsRequest&) { return CeilingsReply{backend().ceilings()}; }
    Reply operator()(const LoadRequest&) { return LoadedReply{source_.load(loading())}; }
    Reply operator()(const FactsRequest& request) {
        FactsReply facts;
        for (const model::CaseResult& entry : request.cases) {
            facts.facts.push_back(backend().facts(entry.spec));
        }
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
    Reply operator()(const CodeRequest& request) {
        return CodeReply{measurement().machine_code(request.result, request.settings, observer())};
    }
    Reply operator()(const CountersRequest& request) {
        CountersReply counters;
        for (const auto& job : request.jobs) counters.results.push_back(job.result);
        std::vector<CaseMeasurement::CounterJob> jobs;
        for (std::size_t i = 0; i < request.jobs.size(); ++i) {
            jobs.push_back({&counters.results[i], request.jobs[i].settings});
        }
        measurement().collect_counters(jobs, observer());
        return counters;
    }

  private:
    Backend& backend() {
        if (!backend_) {
            backend_ = source_.open(loading());
            tell(PhaseReply{std::string(open_phase)});
        }
        return *backend_;
    }
    BackendSource::Loading loading() {
        return [this](const std::string& file) {
            tell(PhaseReply{file.empty() ? std::string(loaded_phase)
                                         : std::string(loading_phase) + file});
        };
    }
    CaseMeasurement& measurement() {
        if (!measurement_) measurement_.emplace(backend());
        return *measurement_;
    }

    PhaseObserver observer() {
        return [this](std::string_view phase) { tell(PhaseReply{std::string(phase)}); };
    }

    void tell(const Reply& what) {
        // A plugin that forks and returns twice has turned this into a second worker.
        if (getpid() != pid_) _exit(3);
        // Without its coordinator, a worker has nothing to do.
        if (!reply(replies_fd_, label_, what)) _exit(3);
    }

    const BackendSource& source_;
    int replies_fd_;
    pid_t pid_ = getpid();
    std::string label_;  ///< of the request that is served
    std::unique_ptr<Backend> backend_;
    std::optional<CaseMeasurement> measurement_;
};

}  // namespace

int serve(const BackendSource& source, int requests_fd, int replies_fd) {
    be_ended_first();
    LineReader requests(take_descriptor(requests_fd));
    Server server(source, take_descriptor(replies_fd));
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing > STDIN_FILENO) ::close(nothing);  // standard input was not closed
    while (const std::optional<std::string> line = requests.next()) {
        // The context is broken: destructors that call the driver could hang or crash.
        if (!server.serve(*line)) _exit(3);
    }
    return 0;
}

}  // namespace perfgate::measure
