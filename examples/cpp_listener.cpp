/*
 * cpp_listener.cpp - Bellwire from C++: a handle that closes itself, functions as callbacks, errors as exceptions.
 *
 *   c++ -std=c++17 cpp_listener.cpp $(pkg-config --cflags --libs bellwire) -o cpp_listener
 *
 *   ./cpp_listener '{"type":"desktop-pairing",...}'   pairs by the text of a desktop's QR code, then listens
 *   ./cpp_listener                                    listens to the desktops that it has paired with before
 *
 * Ctrl-C stops it. Needs only the library. C++17.
 */
#include <bellwire.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>

namespace bellwire {

// A text from the library, which also frees it.
using Text = std::unique_ptr<char, void (*)(void *)>;

inline Text take(char *text) { return Text(text, bw_free); }

// The value at a JSON pointer, if there is one.
inline std::optional<std::string> text_at(const std::string &json, const char *pointer) {
    char *text = nullptr;
    if (bw_json_text(json.c_str(), pointer, &text) != BW_OK) return std::nullopt;
    return std::string(take(text).get());
}

// A failed call: what is wrong and what to do, from bw_last_error().
class Error : public std::runtime_error {
public:
    explicit Error(bw_status status) : std::runtime_error(message(status)), status_(status) {}
    bw_status status() const noexcept { return status_; }

private:
    static std::string message(bw_status status) {
        const Text error = take(bw_last_error());
        if (error)
            if (auto text = text_at(error.get(), "/message")) return *text;
        return bw_status_name(status);
    }

    bw_status status_;
};

inline bw_status check(bw_status status) {
    if (status < 0) throw Error(status);
    return status;
}

using Callback = std::function<void(const std::string &event, const std::string &event_json)>;

// An open device. It can be moved: callbacks refer to its handle, not to this object.
class Device {
public:
    explicit Device(const char *options_json = nullptr) { check(bw_device_open(options_json, &state_->handle)); }

    // For all other functions of bellwire.h.
    bw_device *handle() const noexcept { return state_ ? state_->handle : nullptr; }

    void start() { check(bw_device_start(handle())); }
    int fd() const { return check(bw_device_fd(handle())); }

    // Runs the callbacks. If one throws, the others still run, and then this throws the same exception.
    void dispatch() {
        const bw_status status = bw_device_dispatch(handle());
        if (auto thrown = std::exchange(state_->thrown, nullptr)) std::rethrow_exception(thrown);
        check(status);
    }

    // The library owns the copy of the callback until the subscription ends, and then destroys it.
    bw_subscription subscribe(const char *event, Callback callback) {
        auto bound = std::make_unique<Bound>(Bound{std::move(callback), state_.get()});
        bw_subscription subscription = 0;
        check(bw_device_subscribe(handle(), event, call, bound.release(), destroy, &subscription));
        return subscription;
    }

    void unsubscribe(bw_subscription subscription) { check(bw_device_unsubscribe(handle(), subscription)); }

    std::string scan(const std::string &code, int32_t timeout_ms) {
        char *desktop = nullptr;
        check(bw_pairing_scan(handle(), code.c_str(), timeout_ms, &desktop));
        return take(desktop).get();
    }

    std::string desktops() const {
        char *list = nullptr;
        check(bw_pairing_list(handle(), &list));
        return take(list).get();
    }

private:
    struct State {
        bw_device *handle = nullptr;
        std::exception_ptr thrown;
        State() = default;
        State(const State &) = delete;
        State &operator=(const State &) = delete;
        ~State() { bw_device_close(handle); } // runs every destroy; a handle that is none is refused, no harm
    };

    struct Bound {
        Callback callback;
        State *state;
    };

    // No exception may cross the C frames between here and dispatch(), so dispatch() rethrows it.
    static void call(void *user_data, const char *event, const char *event_json) noexcept {
        auto *bound = static_cast<Bound *>(user_data);
        try {
            bound->callback(event, event_json);
        } catch (...) {
            if (!bound->state->thrown) bound->state->thrown = std::current_exception();
        }
    }

    static void destroy(void *user_data) noexcept { delete static_cast<Bound *>(user_data); }

    std::unique_ptr<State> state_ = std::make_unique<State>();
};

} // namespace bellwire

namespace {

// Makes Ctrl-C pollable: the signal handler only writes a byte into this pipe.
int interrupt_pipe[2];

extern "C" void on_interrupt(int number) {
    const int saved = errno;
    const char byte = static_cast<char>(number);
    if (write(interrupt_pipe[1], &byte, 1) < 0) { /* the pipe is full, so it is readable already */ }
    errno = saved;
}

void catch_interrupts() {
    if (pipe(interrupt_pipe) != 0) throw std::runtime_error(std::strerror(errno));
    struct sigaction action = {};
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

// The text comes from another machine: control characters become spaces.
std::string shown(std::string text) {
    for (std::size_t index = 0; index < text.size(); index++) {
        const auto byte = static_cast<unsigned char>(text[index]);
        const auto next = index + 1 < text.size() ? static_cast<unsigned char>(text[index + 1]) : 0U;
        if (byte == 0xC2 && next >= 0x80 && next < 0xA0) text.replace(index, 2, " "); // U+0080 to U+009F in UTF-8
        if (byte < 0x20 || byte == 0x7F) text[index] = ' ';
    }
    return text;
}

void listen(const char *code) {
    bellwire::Device device; // the defaults: the key and the database are in $XDG_STATE_HOME/bellwire/device
    if (code) {
        device.scan(code, 30000); // so far, Ctrl-C simply ends it
    } else if (device.desktops() == "[]") {
        throw std::runtime_error("not paired yet; pass the text of a desktop's QR code");
    }
    catch_interrupts();

    int count = 0;
    device.subscribe("notification.received", [&count](const std::string &, const std::string &event) {
        const auto title = bellwire::text_at(event, "/data/title");
        if (!title) throw std::runtime_error("a push without a title"); // comes out of dispatch()
        std::cout << ++count << "  " << shown(*title) << "  " << shown(bellwire::text_at(event, "/data/body").value_or(""))
                  << std::endl;
    });
    device.start();
    std::cerr << "cpp_listener: paired, waiting for pushes" << std::endl;

    pollfd wait_for[2] = {{device.fd(), POLLIN, 0}, {interrupt_pipe[0], POLLIN, 0}};
    while (wait_for[1].revents == 0) {
        if (poll(wait_for, 2, -1) < 0 && errno != EINTR) throw std::runtime_error(std::strerror(errno));
        device.dispatch();
    }
}

} // namespace

int main(int argc, char **argv) {
    if (argc > 2) {
        std::cerr << "usage: cpp_listener [text of a desktop's QR code]" << std::endl;
        return 2;
    }
    try {
        listen(argc == 2 ? argv[1] : nullptr);
        return EXIT_SUCCESS;
    } catch (const std::exception &error) {
        std::cerr << "cpp_listener: " << error.what() << std::endl;
        return EXIT_FAILURE;
    }
}
