// SPDX-License-Identifier: Apache-2.0
// Recordings of GPU activity. Each input is read as it is, and once more with its checksums put
// right: else the reader would see nothing but the first damaged block. What was read is analysed,
// since the analysis has to take whatever the reader lets pass.
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "activity/analysis.hpp"
#include "activity/recording.hpp"
#include "analysed.hpp"
#include "fuzz.hpp"
#include "kinds/command/pieces.hpp"

namespace {

using namespace perfgate;

std::string with_checksums(std::string_view input) {
    std::string sealed(input);
    std::size_t at = sizeof(activity::Prologue);
    while (at + sizeof(activity::BlockHeader) <= sealed.size()) {
        activity::BlockHeader header;
        std::memcpy(&header, sealed.data() + at, sizeof(header));
        header.mark = activity::block_mark;
        const std::size_t left = sealed.size() - at - sizeof(header);
        header.payload_bytes =
            static_cast<std::uint32_t>(std::min<std::size_t>(header.payload_bytes, left));
        const auto payload =
            std::string_view(sealed).substr(at + sizeof(header), header.payload_bytes);
        header.checksum = activity::block_checksum(header, std::as_bytes(std::span(payload)));
        std::memcpy(sealed.data() + at, &header, sizeof(header));
        at += sizeof(header) + header.payload_bytes;
    }
    return sealed;
}

void take_values(const command::Recorded& recorded) {
    using Kind = command::Piece::Kind;
    for (const command::Piece& piece :
         {command::Piece{}, command::Piece{Kind::range, "*", "", true, 0},
          command::Piece{Kind::kernels, "*e*", "*", false, 1},
          command::Piece{Kind::kernels, "*", "", false, 1}}) {
        const command::PieceValues values = command::values_of(recorded, piece);
        for (const auto& [metric, samples] : values.samples) {
            if (values.problem.empty() && samples.size() != values.instances) {
                std::fprintf(stderr, "%s has %zu samples of %zu instances\n", metric.c_str(),
                             samples.size(), values.instances);
                std::abort();
            }
        }
        command::kernels_of(recorded, piece);
        command::api_counts_of(recorded, piece);
    }
}

void analyse(std::string_view input) {
    std::vector<activity::Recording> recordings;
    try {
        recordings.push_back(activity::parse_recording(input, "fuzz.activity"));
    } catch (const util::InputError&) {
        return;
    }
    if (recordings[0].end.empty() && recordings[0].incomplete.empty()) {
        std::fprintf(stderr, "a recording without an end is not incomplete\n");
        std::abort();
    }
    const command::Recorded recorded(recordings);
    fuzz::analyse(recordings);
    take_values(recorded);
    for (const model::CaptureRange& capture :
         {model::CaptureRange{true, "", 0}, model::CaptureRange{false, "", 1}}) {
        const command::Recorded part(recordings, capture);
        if (!part.missing().empty()) continue;
        take_values(part);
        activity::ProfileOptions options;
        options.capture = capture;
        activity::profile_of(part.processes().front().timeline, options);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input = fuzz::text_of(data, size);
    analyse(input);
    analyse(with_checksums(input));
    return 0;
}
