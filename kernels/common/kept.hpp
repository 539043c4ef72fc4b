// SPDX-License-Identifier: Apache-2.0
// Keeps what was made of one problem, because it is needed again: the variants of a workload are
// checked against the same references, which take longer to make than to compare with.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace common {

// Values by their key, for the life of a process: at most `most_bytes` in all, by the sizes that
// keep() is given. Thread-safe.
template <class Key, class Value>
class Kept {
  public:
    explicit Kept(std::size_t most_bytes) : most_bytes_(most_bytes) {}

    // Null: there is none.
    std::shared_ptr<const Value> find(const Key& key) const {
        const std::lock_guard lock(mutex_);
        const auto known = values_.find(key);
        return known == values_.end() ? nullptr : known->second;
    }

    // Forgets all others where they leave no room, and keeps nothing that alone is too large.
    void keep(const Key& key, std::shared_ptr<const Value> value, std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        if (bytes > most_bytes_ || values_.contains(key)) return;
        if (bytes > most_bytes_ - used_bytes_) {
            values_.clear();
            used_bytes_ = 0;
        }
        values_.emplace(key, std::move(value));
        used_bytes_ += bytes;
    }

  private:
    mutable std::mutex mutex_;
    std::map<Key, std::shared_ptr<const Value>> values_;
    std::size_t most_bytes_;
    std::size_t used_bytes_ = 0;
};

}  // namespace common
