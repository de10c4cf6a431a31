// A host in C++, with templates and exceptions of the standard library that the archive also has inside.
#include <bellwire.h>

#include <iostream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

int main()
{
    std::vector<std::string> words;
    std::map<std::string, int> numbers;
    for (int number = 0; number < 1000; number++) {
        words.push_back(std::to_string(number));
        numbers[words.back()] = number;
    }
    bool caught = false;
    try {
        (void)words.at(words.size());
    } catch (const std::out_of_range &) {
        caught = true;
    }
    std::mutex mutex;
    const std::lock_guard<std::mutex> lock(mutex);

    bw_device *device = nullptr;
    char *state = nullptr;
    const bool opens = bw_device_open("{\"state_dir\":\":memory:\"}", &device) == BW_OK
        && bw_device_state(device, &state) == BW_OK && std::string(state).find("did:key:z") != std::string::npos;
    bw_free(state);
    const bool closes = bw_device_close(device) == BW_OK;
    std::cout << bw_version() << (opens && closes ? " opens, " : " does not open, ") << numbers.size() << " words, "
              << (caught ? "caught" : "not caught") << std::endl;
    return 0;
}
