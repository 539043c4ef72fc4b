// SPDX-License-Identifier: Apache-2.0
#include "activity/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <system_error>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::activity {
namespace {

/// More ids than a recording of the largest size could use.
constexpr std::uint32_t max_id = std::uint32_t{1} << 26;

/// What ends the reading of a recording: it is incomplete from here.
struct Damage {
    std::string what;
};

/// Payload that is read from its start to its end.
class Payload {
  public:
    explicit Payload(std::string_view bytes) : bytes_(bytes) {}

    [[nodiscard]] bool empty() const { return bytes_.empty(); }

    std::uint32_t number() {
        std::uint32_t value = 0;
        std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
        return value;
    }

    std::string_view text() {
        const std::uint32_t length = number();
        if (length > max_string_bytes) throw Damage{"a text is longer than any may be"};
        return take(length);
    }

    template <class Record>
    void records(std::vector<Record>& to) {
        if (bytes_.size() % sizeof(Record) != 0) throw Damage{"a block ends within a record"};
        const std::size_t before = to.size();
        to.resize(before + bytes_.size() / sizeof(Record));
        if (!bytes_.empty()) std::memcpy(to.data() + before, bytes_.data(), bytes_.size());
        bytes_ = {};
    }

  private:
    std::string_view take(std::size_t size) {
        if (size > bytes_.size()) throw Damage{"a block ends within a text"};
        const std::string_view taken = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return taken;
    }

    std::string_view bytes_;
};

/// Takes blocks in the order of the stream.
class Reader {
  public:
    Reader() {
        recording_.strings.emplace_back();
        recording_.configurations.emplace_back();
    }

    void take(std::uint32_t kind, Payload payload) {
        if (!recording_.end.empty()) throw Damage{"something follows its end"};
        const bool is_header = kind == static_cast<std::uint32_t>(BlockKind::header);
        if (is_header == begun_) throw Damage{"its header is not its first block"};
        begun_ = true;
        switch (static_cast<BlockKind>(kind)) {
            case BlockKind::header:
                while (!payload.empty()) {
                    const std::string_view key = payload.text();
                    recording_.header[std::string(key)] = payload.text();
                }
                return;
            case BlockKind::strings:
                while (!payload.empty()) {
                    const std::uint32_t id = payload.number();
                    add_at(recording_.strings, id, std::string(payload.text()));
                }
                return;
            case BlockKind::configurations: {
                std::vector<LaunchConfiguration> all;
                payload.records(all);
                for (const LaunchConfiguration& each : all) {
                    check(each.symbol);
                    add_at(recording_.configurations, each.id, each);
                }
                return;
            }
            case BlockKind::counts: {
                std::vector<Counts> all;
                payload.records(all);
                if (all.size() != 1) throw Damage{"a block of counts has not one of them"};
                recording_.counts = all.front();
                return;
            }
            case BlockKind::problem:
                recording_.incomplete.emplace_back(payload.text());
                return;
            case BlockKind::end:
                recording_.end = payload.text();
                if (recording_.end.empty()) throw Damage{"its end does not say how"};
                return;
            default:
                break;
        }
        bool known = false;
        for_each_kind(recording_.records, [&](BlockKind each, auto& all) {
            if (static_cast<std::uint32_t>(each) != kind) return;
            known = true;
            const std::size_t before = all.size();
            payload.records(all);
            try {
                for (std::size_t i = before; i < all.size(); ++i) check(all[i]);
            } catch (const Damage&) {
                all.resize(before);  // what refers to nothing must not reach the analysis
                throw;
            }
        });
        if (!known) {
            throw Damage{fmt::format(
                "it has a block of kind {}, which this perfgate does not know; use a newer one",
                kind)};
        }
    }

    Recording finish(std::optional<Damage> damage, std::uint64_t offset) {
        if (damage) {
            recording_.incomplete.push_back(
                fmt::format("the recording is damaged at byte {}: {}", offset, damage->what));
        } else if (recording_.end.empty()) {
            recording_.incomplete.emplace_back(
                "the recording has no end: the process was killed, crashed or left by _exit, and "
                "what it did since the last flush is missing");
        }
        add_counted_losses();
        return std::move(recording_);
    }

  private:
    /// Ids come in order, so that a table has no holes.
    template <class Value>
    void add_at(std::vector<Value>& table, std::uint32_t id, Value value) {
        if (id != table.size() || id > max_id) throw Damage{"ids do not come in order"};
        table.push_back(std::move(value));
    }

    void check(StringId id) const {
        if (id >= recording_.strings.size()) throw Damage{"a record refers to no text"};
    }
    void check(const Kernel& kernel) const {
        if (kernel.configuration >= recording_.configurations.size()) {
            throw Damage{"a kernel refers to no launch configuration"};
        }
    }
    void check(const ApiCall& call) const { check(call.name); }
    void check(const Marker& marker) const {
        check(marker.name);
        check(marker.domain);
        if (marker.kind > MarkerKind::instant) throw Damage{"a marker is of no known kind"};
    }
    void check(const Device& device) const { check(device.name); }
    void check(const FunctionCode& code) const {
        check(code.symbol);
        check(code.fingerprint);
    }
    void check(const ProfilerCall& call) const {
        if (call.kind > ProfilerCallKind::stop) throw Damage{"a profiler call is of no known kind"};
    }
    void check(const StackFrame& frame) {
        check(frame.function);
        check(frame.file);
        // Stacks end: a caller is earlier.
        const auto own = static_cast<std::size_t>(&frame - recording_.records.stack_frames.data());
        if (frame.caller > own) throw Damage{"a stack refers to no caller"};
        depths_.resize(own);
        depths_.push_back(frame.caller == 0 ? 1 : depths_[frame.caller - 1] + 1);
        if (depths_.back() > max_stack_depth) throw Damage{"a stack is deeper than any may be"};
    }
    void check(const HostSample& sample) const {
        if (sample.frame > recording_.records.stack_frames.size()) {
            throw Damage{"a sample refers to no stack"};
        }
        if (sample.state > HostState::other) throw Damage{"the state of a thread is not known"};
        if (sample.end_ns < sample.start_ns) throw Damage{"a sample ends before it starts"};
    }
    void check(const HostThread& thread) const { check(thread.name); }
    void check(const HostSampling& sampling) const { check(sampling.python); }
    void check(const DeviceSample& sample) const {
        if (sample.end_ns < sample.start_ns) throw Damage{"a sample ends before it starts"};
        for (const std::uint32_t bits : sample.bits) {
            if (!std::isfinite(std::bit_cast<float>(bits))) throw Damage{"a sample is no number"};
        }
    }
    void check(const StackSize& stack) const { check(stack.symbol); }
    void check(const FunctionPlace& place) const {
        check(place.symbol);
        check(place.file);
    }
    void check(const PcSample& sample) const {
        check(sample.symbol);
        check(sample.reason);
    }
    void check(const Launched& launched) const {
        if (launched.configuration >= recording_.configurations.size()) {
            throw Damage{"a launch refers to no launch configuration"};
        }
    }
    void check(const CounterPass& pass) const { check(pass.chip); }
    void check(const PlannedCounter& counter) const {
        check(counter.counter);
        if (counter.fate > CounterFate::several_passes) {
            throw Damage{"what becomes of a counter is not known"};
        }
    }
    void check_launch(std::uint64_t launch) const {
        if (launch >= recording_.records.launches.size()) {
            throw Damage{"a counter refers to no launch"};
        }
    }
    void check(const CountedLaunch& counted) const { check_launch(counted.launch); }
    void check(const CounterValue& value) const {
        check_launch(value.launch);
        check(value.counter);
    }
    void check(const CounterRefusal& refusal) const { check(refusal.reason); }
    template <class Record>
    void check(const Record&) const {}

    void add_counted_losses() {
        const Counts& counts = recording_.counts;
        const auto add = [&](std::uint64_t count, std::string_view what) {
            if (count != 0) recording_.incomplete.push_back(fmt::format("{} {}", count, what));
        };
        add(counts.dropped_records, "records were dropped by CUPTI");
        add(counts.without_time, "records came without time stamps");
        add(counts.reversed_time, "records end before they start");
        add(counts.unread_records, "records could not be stored");
        add(counts.over_limit_records, "records came after the recording was full");
        add(counts.refused_buffers, "times CUPTI found no memory for records");
        const Records& records = recording_.records;
        if (counts.counted_with_callbacks == 0 || recording_.end.empty()) return;
        const std::uint64_t launched =
            counts.kernel_launches - std::min(counts.kernel_launches, counts.captured_launches);
        const auto in_graph = [](const auto& record) { return record.graph.node != 0; };
        const auto direct = records.kernels.size() - static_cast<std::size_t>(std::ranges::count_if(
                                                         records.kernels, in_graph));
        if (direct < launched) {
            recording_.incomplete.push_back(
                fmt::format("kernels launched: {}, recorded: {}", launched, direct));
        }
        std::vector<std::uint32_t> graphs;
        const auto collect = [&](const auto& all) {
            for (const auto& record : all) {
                if (in_graph(record)) graphs.push_back(record.place.correlation);
            }
        };
        collect(records.kernels);
        collect(records.copies);
        collect(records.memsets);
        std::ranges::sort(graphs);
        const auto replayed =
            static_cast<std::uint64_t>(std::unique(graphs.begin(), graphs.end()) - graphs.begin());
        if (replayed < counts.graph_launches) {
            recording_.incomplete.push_back(
                fmt::format("{} graphs were launched and work of {} recorded",
                            counts.graph_launches, replayed));
        }
    }

    Recording recording_;
    std::vector<std::uint32_t> depths_;  ///< of its stack frames
    bool begun_ = false;
};

/// Reads blocks from `source`, which fills as much of a buffer as there is left.
template <class Fill>
Recording read(const Fill& fill, std::string_view name) {
    Prologue prologue;
    if (fill(reinterpret_cast<char*>(&prologue), sizeof(prologue)) < sizeof(prologue) ||
        prologue.name != format_name) {
        throw util::InputError("{} is no recording of GPU activity", util::printable(name));
    }
    if (prologue.version == 0 || prologue.version > format_version) {
        throw util::InputError(
            "{} is a recording of version {}, this perfgate reads versions 1 to {}; record it "
            "again",
            util::printable(name), prologue.version, format_version);
    }

    Reader reader;
    std::uint64_t offset = sizeof(prologue);
    std::string payload;
    try {
        for (;;) {
            BlockHeader header;
            const std::size_t got = fill(reinterpret_cast<char*>(&header), sizeof(header));
            if (got == 0) return reader.finish(std::nullopt, offset);
            if (got < sizeof(header)) throw Damage{"it is cut within a block"};
            if (header.mark != block_mark) throw Damage{"there is no block"};
            if (header.payload_bytes > max_payload_bytes) throw Damage{"a block is too long"};
            payload.resize(header.payload_bytes);
            if (fill(payload.data(), payload.size()) < payload.size()) {
                throw Damage{"it is cut within a block"};
            }
            if (block_checksum(header, std::as_bytes(std::span(payload))) != header.checksum) {
                throw Damage{"a block's checksum is wrong"};
            }
            reader.take(header.kind, Payload(payload));
            offset += sizeof(header) + payload.size();
        }
    } catch (const Damage& damage) {
        return reader.finish(damage, offset);
    }
}

}  // namespace

const std::string& Recording::field(const std::string& key) const {
    static const std::string none;
    const auto found = header.find(key);
    return found == header.end() ? none : found->second;
}

Recording parse_recording(std::string_view content, std::string_view source) {
    return read(
        [&](char* to, std::size_t size) {
            const std::string_view part = content.substr(0, size);
            std::ranges::copy(part, to);
            content.remove_prefix(part.size());
            return part.size();
        },
        source);
}

Recording read_recording(const std::filesystem::path& file) {
    std::error_code error;
    // A pipe or a device would be read for ever.
    if (!std::filesystem::is_regular_file(file, error)) {
        throw util::InputError("recording {}: there is no such file",
                               util::printable(file.native()));
    }
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
        throw util::InputError("recording {}: cannot be read", util::printable(file.native()));
    }
    return read(
        [&](char* to, std::size_t size) {
            stream.read(to, static_cast<std::streamsize>(size));
            return static_cast<std::size_t>(stream.gcount());
        },
        file.native());
}

std::vector<std::filesystem::path> recordings_in(const std::filesystem::path& folder) {
    std::error_code error;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        if (entry.path().extension() == ".activity") files.push_back(entry.path());
    }
    const std::string name = util::printable(folder.native());
    if (error) throw util::InputError("recordings {}: {}", name, error.message());
    if (files.empty()) {
        throw util::InputError("recordings {}: the folder has no *.activity", name);
    }
    std::ranges::sort(files);
    return files;
}

}  // namespace perfgate::activity
