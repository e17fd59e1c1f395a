// Memory for the kernels. They throw no exceptions, so a buffer reports whether it could be allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace radoncdt {

template <class T>
class Buffer {
public:
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { std::free(data_); }

    // Make room for `count` numbers. The content is lost if the buffer has to grow. Returns false if there is no
    // memory.
    [[nodiscard]] bool reserve(std::int64_t count) {
        const auto wanted = static_cast<std::size_t>(count > 0 ? count : 1);
        if (wanted <= size_) return true;
        if (wanted > SIZE_MAX / sizeof(T)) return false;
        std::free(data_);
        data_ = static_cast<T*>(std::malloc(wanted * sizeof(T)));
        size_ = data_ ? wanted : 0;
        return data_ != nullptr;
    }

    // Make room for `count` numbers and set them to zero. Returns false if there is no memory.
    [[nodiscard]] bool reserve_zeros(std::int64_t count) {
        if (!reserve(count)) return false;
        for (std::int64_t i = 0; i < count; ++i) data_[i] = T(0);
        return true;
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](std::int64_t i) { return data_[i]; }
    const T& operator[](std::int64_t i) const { return data_[i]; }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace radoncdt
