// SPDX-License-Identifier: Apache-2.0
// Stacks of the host, sampled by the injection library in programs whose driver and CUPTI are
// mocks: Python programs of each interpreter that is installed, and native ones.
#include <glob.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "activity/recording.hpp"
#include "injected_program.hpp"
#include "stacks/python.hpp"

namespace perfgate::inject {
namespace {

using activity::HostSample;
using activity::HostState;
using activity::Recording;

/// "main > fetch > wait": the functions of a sample, outermost first.
std::string stack_of(const Recording& recording, const HostSample& sample) {
    std::string text;
    for (std::uint32_t at = sample.frame; at != 0;) {
        const activity::StackFrame& frame = recording.records.stack_frames[at - 1];
        text = recording.text(frame.function) + (text.empty() ? "" : " > ") + text;
        at = frame.caller;
    }
    return text;
}

/// The samples of stacks that end so.
std::vector<HostSample> samples_in(const Recording& recording, const std::string& functions) {
    std::vector<HostSample> found;
    for (const HostSample& sample : recording.records.host_samples) {
        if (stack_of(recording, sample).ends_with(functions)) found.push_back(sample);
    }
    return found;
}

/// In each script `cuda` is the mock of the driver, initialised, and `look()` waits until the
/// sampler of this process, or of the parent, has looked at it some times.
const std::string prelude = R"(
import ctypes, os, sys, threading, time
cuda = ctypes.CDLL('libcuda.so.1'); cuda.cuInit(0)
sampled = os.getpid()
def runs():
    for task in os.listdir(f'/proc/{sampled}/task'):
        try:
            if open(f'/proc/{sampled}/task/{task}/comm').read() == 'perfgate stacks\n':
                return int(open(f'/proc/{sampled}/task/{task}/schedstat').read().split()[2])
        except OSError:
            pass
    return 0
def look(times=40, pause=0.001):
    first = runs()
    while runs() < first + times:
        time.sleep(pause)
)";

class Stacks : public Injection {
  protected:
    Stacks() { settings_.stacks_us = 1000; }

    Words words_of(const std::string& script) {
        const std::filesystem::path file = folder_ / "script.py";
        std::ofstream(file) << prelude << script;
        return {"-W", "ignore", file.native()};
    }

    Recording run_python(const std::string& python, const std::string& script) {
        for (const auto& file : files()) std::filesystem::remove(file);
        program_ = python;
        run(words_of(script));
        return recording();
    }
};

std::vector<std::string> interpreters() {
    std::vector<std::string> patterns = {"/usr/bin/python3.1[0-9]",
                                         "/usr/local/bin/python3.1[0-9]"};
    if (const char* home = std::getenv("HOME"); home != nullptr) {
        patterns.push_back(std::string(home) + "/.pyenv/versions/3.1[0-9].*/bin/python3");
    }
    std::vector<std::string> found;
    for (const std::string& pattern : patterns) {
        glob_t paths{};
        glob(pattern.c_str(), 0, nullptr, &paths);
        for (std::size_t i = 0; i < paths.gl_pathc; ++i) found.emplace_back(paths.gl_pathv[i]);
        globfree(&paths);
    }
    return found;
}

/// The tests need a Python of 3.10 to 3.19.
class PythonStacks : public Stacks {
  protected:
    void SetUp() override { ASSERT_FALSE(interpreters().empty()); }
};

TEST_F(PythonStacks, what_python_waits_in_is_named_with_its_line_by_each_interpreter) {
    for (const std::string& python : interpreters()) {
        SCOPED_TRACE(python);
        const Recording recording = run_python(python, R"(
import queue
class Loader:
    def __init__(self): self.queue = queue.Queue()
    def __next__(self):
        return self.queue.get()
def train(loader):
    return loader.__next__()
loader = Loader()
def blocked():  # however long the main thread waits for a processor on its way into the lock
    return loader.queue.not_empty._waiters and open('/proc/self/stat').read().rsplit(')')[1].split()[0] == 'S'
def feed():
    for item in range(8):
        while not blocked(): time.sleep(0.001)
        look(10)
        loader.queue.put(item)
threading.Thread(target=feed, name='feeder').start()
for item in range(8): train(loader)
)");
        EXPECT_EQ(std::vector<std::string>{}, recording.incomplete);
        const bool qualified = python.find("3.10") == std::string::npos;
        const std::vector<HostSample> waits = samples_in(
            recording, qualified ? "<module> > train > Loader.__next__ > Queue.get > Condition.wait"
                                 : "<module> > train > __next__ > get > wait");
        // Before it waits, it may be seen there while it runs, or is ready to.
        const auto wait = std::find_if(waits.begin(), waits.end(), [](const HostSample& each) {
            return each.state == HostState::lock;
        });
        ASSERT_NE(waits.end(), wait);
        EXPECT_EQ(wait->process, wait->thread);  // the main thread
        EXPECT_LT(wait->start_ns, wait->end_ns);
        // Three frames further out is the loader's function.
        const auto& frames = recording.records.stack_frames;
        const auto& get = frames[frames[wait->frame - 1].caller - 1];
        const auto& next = frames[get.caller - 1];
        EXPECT_EQ((folder_ / "script.py").native(), recording.text(next.file));
        const std::string text =
            prelude + "\nimport queue\nclass Loader:\n    def __init__\n    def\n";
        EXPECT_EQ(1 + std::count(text.begin(), text.end(), '\n'), next.line);
        const auto& sampling = recording.records.host_samplings.back();
        EXPECT_EQ(0u, recording.text(sampling.python).find("3.1"));
        EXPECT_EQ(1'000'000u, sampling.interval_ns);
        EXPECT_LT(0u, sampling.looks);
        EXPECT_LT(0u, sampling.cpu_ns);
        EXPECT_FALSE(
            samples_in(recording, qualified ? "Thread.run > feed > look" : "run > feed > look")
                .empty());
    }
}

TEST_F(PythonStacks, a_thread_that_runs_is_told_from_one_that_waits) {
    const Recording recording = run_python(interpreters().back(), R"(
def spin():
    while not over: pass
def nap():
    look(pause=0.03)  # longer than the other thread keeps the interpreter's lock
over = False
threading.Thread(target=spin).start()
nap()
over = True
)");
    std::set<HostState> spins, naps;
    for (const HostSample& each : samples_in(recording, "spin")) spins.insert(each.state);
    for (const HostSample& each : samples_in(recording, "nap > look")) naps.insert(each.state);
    EXPECT_TRUE(spins.contains(HostState::running) || spins.contains(HostState::ready));
    EXPECT_FALSE(spins.contains(HostState::sleep));
    EXPECT_TRUE(naps.contains(HostState::sleep) || naps.contains(HostState::data));  // before 3.11
}

TEST_F(PythonStacks, processes_that_the_program_starts_are_sampled_too) {
    const Recording forked = run_python(interpreters().back(), R"(
def work():
    look(300)  # children are looked for less often
child = os.fork()
if child == 0:
    work()
    os._exit(0)
os.waitpid(child, 0)
)");
    const std::vector<HostSample> works = samples_in(forked, "<module> > work > look");
    ASSERT_FALSE(works.empty());
    EXPECT_NE(std::stoul(forked.field("pid")), works.front().process);
    const auto& threads = forked.records.host_threads;
    EXPECT_TRUE(std::any_of(threads.begin(), threads.end(), [&](const auto& each) {
        return each.process == works.front().process;
    }));

    std::ofstream(folder_ / "worker.py") << R"(
import os, sys, time
def work():
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.001)
work()
)";
    const Recording started = run_python(interpreters().back(), R"(
import subprocess
stop = os.path.join(os.path.dirname(__file__), 'stop')
child = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(__file__), 'worker.py'), stop])
time.sleep(0.2)
look(300)
open(stop, 'w').close()
child.wait()
)");
    EXPECT_FALSE(samples_in(started, "<module> > work").empty());
}

TEST_F(PythonStacks, a_function_of_several_processes_is_one) {
    const Recording forked = run_python(interpreters().back(), R"(
def work():
    look(300)
children = []
for i in range(2):
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    children.append(child)
for child in children: os.waitpid(child, 0)
)");
    std::set<std::uint32_t> processes;
    for (const HostSample& each : samples_in(forked, "<module> > work > look")) {
        processes.insert(each.process);
    }
    EXPECT_EQ(2u, processes.size());
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>> frames;
    for (const activity::StackFrame& each : forked.records.stack_frames) {
        EXPECT_TRUE(frames.emplace(each.caller, each.function, each.file, each.line).second)
            << forked.text(each.function) << ":" << each.line;
    }
}

TEST_F(PythonStacks, more_threads_than_descriptors_are_sampled_and_named_once) {
    program_ = interpreters().back();
    const Ended ended = wait(start(words_of(R"(
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
over = threading.Event()
def stay(): over.wait()
threads = [threading.Thread(target=stay) for i in range(100)]
for thread in threads: thread.start()
look(100)
over.set()
for thread in threads: thread.join()
print('many')
)")));
    EXPECT_EQ(0, ended.status);
    EXPECT_EQ("many\n", ended.output);
    const Recording found = recording();
    std::set<std::uint32_t> stays;
    for (const HostSample& each : found.records.host_samples) {
        if (stack_of(found, each).find("stay > ") != std::string::npos) stays.insert(each.thread);
    }
    EXPECT_EQ(100u, stays.size());
    std::map<std::uint32_t, int> named;
    for (const auto& each : found.records.host_threads) ++named[each.thread];
    for (const auto& [thread, times] : named) EXPECT_GE(2, times) << thread;
}

TEST_F(PythonStacks, a_killed_program_leaves_a_readable_recording) {
    program_ = interpreters().back();
    const Ended ended = wait(start(words_of(R"(
def last():
    look(200)
    os.kill(os.getpid(), 9)
last()
)")));
    ASSERT_TRUE(WIFSIGNALED(ended.status));
    const Recording recording = this->recording();
    ASSERT_EQ(1u, recording.incomplete.size());
    EXPECT_NE(std::string::npos, recording.incomplete[0].find("has no end"));
    EXPECT_FALSE(samples_in(recording, "last > look").empty());
}

TEST_F(Stacks, without_being_asked_nothing_is_sampled) {
    settings_.stacks_us = 0;
    run({"kernels", "3", "k", "sleep", "20"});
    EXPECT_TRUE(recording().records.host_samplings.empty());
    EXPECT_TRUE(recording().records.host_samples.empty());
}

TEST_F(Stacks, a_program_without_python_has_states) {
    run({"kernels", "3", "k", "sleep", "200"});
    const Recording recording = this->recording();
    const auto& samples = recording.records.host_samples;
    EXPECT_TRUE(std::any_of(samples.begin(), samples.end(), [](const HostSample& each) {
        return each.state == HostState::sleep && each.process == each.thread;
    }));
    EXPECT_EQ("", recording.text(recording.records.host_samplings.back().python));
}

/// Whether perf events are permitted here.
bool may_interrupt() {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_CPU_CLOCK;
    attributes.exclude_kernel = 1;
    const long event = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    if (event >= 0) close(static_cast<int>(event));
    return event >= 0;
}

TEST_F(Stacks, what_a_native_program_waits_or_runs_in_is_named) {
#ifndef __x86_64__
    GTEST_SKIP() << "native functions are named on x86-64 only";
#endif
    std::vector<std::pair<const char*, HostState>> doings = {
        {"lock", HostState::lock}, {"condition", HostState::lock}, {"read", HostState::io},
        {"poll", HostState::data}, {"sleep", HostState::sleep},    {"frame", HostState::sleep}};
    if (may_interrupt()) doings.emplace_back("run", HostState::running);
    for (const char* program : {PERFGATE_WAITING_PROGRAMS}) {
        for (const auto& [word, state] : doings) {
            SCOPED_TRACE(program + std::string(" ") + word);
            for (const auto& file : files()) std::filesystem::remove(file);
            program_ = program;
            run({word});
            const Recording found = recording();
            std::set<std::string> stacks;
            bool named = false;
            for (const HostSample& each : found.records.host_samples) {
                const std::string stack = stack_of(found, each);
                stacks.insert(stack);
                // A C library with frame pointers (Ubuntu 24.04) hides who waits for a mutex.
                const bool hidden = word == std::string("lock") && stack == "__pthread_mutex_lock";
                named = named || (each.process == each.thread && each.state == state &&
                                  (hidden || stack.find("Loader4next") != std::string::npos));
            }
            EXPECT_TRUE(named) << testing::PrintToString(stacks);
        }
    }
}

// --- programs do what they do without a sampler

struct Program {
    const char* what;
    const char* script;
    const char* output;
    int status;  ///< of waitpid
};
constexpr int exits = 256;

const Program programs[] = {
    {"forks", R"(
for i in range(20):
    child = os.fork()
    if child == 0: os._exit(i)
    print(os.waitpid(child, 0)[1] >> 8, end=' ')
)",
     "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 ", 0},
    {"has a pool of workers", R"(
import multiprocessing
with multiprocessing.get_context('fork').Pool(3) as pool:
    print(sum(pool.map(abs, range(-500, 500))))
)",
     "250000\n", 0},
    {"starts programs", R"(
import subprocess
for i in range(5): print(subprocess.run(['sh', '-c', f'echo {i}; exit {i}'], capture_output=True).stdout)
)",
     "b'0\\n'\nb'1\\n'\nb'2\\n'\nb'3\\n'\nb'4\\n'\n", 0},
    {"becomes another program", R"(
look()
os.execv('/bin/sh', ['sh', '-c', 'echo other; exit 3'])
)",
     "other\n", 3 * exits},
    {"has a timer", R"(
import signal
ticks = 0
def tick(*_):
    global ticks
    ticks += 1
signal.signal(signal.SIGALRM, tick)
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
while ticks < 25: signal.pause()
signal.setitimer(signal.ITIMER_REAL, 0)
print('ticked')
)",
     "ticked\n", 0},
    {"has a profiler with a timer", R"(
import signal
hits = 0
def hit(*_):
    global hits
    hits += 1
signal.signal(signal.SIGPROF, hit)
signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
while hits < 10: pass
signal.setitimer(signal.ITIMER_PROF, 0)
print('profiled')
)",
     "profiled\n", 0},
    {"has a deterministic profiler", R"(
calls = 0
def count(frame, event, arg):
    global calls
    calls += event == 'call'
def f(): pass
sys.setprofile(count)
for i in range(1000): f()
sys.setprofile(None)
print(calls)
)",
     "1000\n", 0},
    {"waits for blocked signals", R"(
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
for i in range(20):
    os.kill(os.getpid(), signal.SIGUSR1)
    print(signal.sigwait({signal.SIGUSR1}) == signal.SIGUSR1, end='')
)",
     "TrueTrueTrueTrueTrueTrueTrueTrueTrueTrueTrueTrueTrueTrueTrueTrueTrueTrueTrueTrue", 0},
    {"has threads that end", R"(
done = []
for i in range(300):
    thread = threading.Thread(target=done.append, args=(i,))
    thread.start(); thread.join()
print(sum(done))
)",
     "44850\n", 0},
    {"leaves a thread behind", R"(
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
look()
print('end')
)",
     "end\n", 0},
    {"counts its descriptors", R"(
look()
first = os.open('/dev/null', os.O_RDONLY)
for i in range(2000):
    again = os.open('/dev/null', os.O_RDONLY)
    if again != first + 1: print('moved')
    os.close(again)
print('same')
)",
     "same\n", 0},
    {"closes descriptors that it does not know", R"(
os.closerange(3, 1024)
look()
numbers = [os.open('/dev/null', os.O_RDONLY) for i in range(8)]
print(numbers)
)",
     "[3, 4, 5, 6, 7, 8, 9, 10]\n", 0},
    {"waits for the end of a pipe", R"(
read, write = os.pipe()
child = os.fork()
if child == 0:
    os.close(write)
    os._exit(len(os.read(read, 10)) + len(os.read(read, 10)))
os.write(write, b'abc')
look()
os.close(write)
print(os.waitpid(child, 0)[1] >> 8)
)",
     "3\n", 0},
    {"recurses too deep", R"(
def f(n): return f(n + 1)
try: f(0)
except RecursionError: print('too deep')
)",
     "too deep\n", 0},
    {"has coroutines", R"(
import asyncio
async def add(i):
    await asyncio.sleep(0.001)
    return i
async def main(): return sum(await asyncio.gather(*(add(i) for i in range(100))))
print(asyncio.run(main()))
)",
     "4950\n", 0},
    {"compiles and drops functions", R"(
total = 0
for i in range(3000):
    names = {}
    exec(f'def f{i}(x):\n  y = x + {i}\n  return y', names)
    total += names[f'f{i}'](1)
print(total)
)",
     "4501500\n", 0},
    {"replaces its memory", R"(
import mmap
for i in range(200):
    memory = mmap.mmap(-1, 1 << 20); memory[0] = i % 251; memory.close()
print('mapped')
)",
     "mapped\n", 0},
    {"leaves without clean-up", "print('left', flush=True); os._exit(7)\n", "left\n", 7 * exits},
    {"dies by a signal", R"(
look()
os.kill(os.getpid(), 15)
time.sleep(60)
)",
     "", SIGTERM},
    {"aborts",
     "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); look(); os.abort()\n", "",
     SIGABRT},
    {"cannot open files", R"(
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
time.sleep(0.05)
print('few')
)",
     "few\n", 0},
    {"forbids reading its memory", R"(
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
time.sleep(0.05)
print('private')
)",
     "private\n", 0},
    {"raises", "look(); sys.excepthook = lambda *_: print('raised'); 1 / 0\n", "raised\n",
     1 * exits},
};

TEST_F(PythonStacks, programs_do_what_they_do_without_a_sampler) {
    static_assert(std::size(programs) >= 20);
    settings_.stacks_us = 200;
    program_ = interpreters().back();
    for (const Program& program : programs) {
        SCOPED_TRACE(program.what);
        for (const auto& file : files()) std::filesystem::remove(file);
        std::filesystem::remove(folder_ / "output");
        const Ended ended = wait(start(words_of(program.script)));
        EXPECT_EQ(program.status, ended.status);
        EXPECT_EQ(program.output, ended.output);
        // Whatever became of it, its recordings can be read.
        for (const auto& file : files()) activity::read_recording(file);
    }
}

TEST_F(Stacks, a_program_with_sanitizers_does_what_it_does_without) {
    settings_.stacks_us = 200;
    program_ = PERFGATE_SANITIZED_PROGRAM;
    const Ended ended = wait(start({}));
    EXPECT_EQ(4 * exits, ended.status);
    EXPECT_EQ("999424\n", ended.output);
    EXPECT_FALSE(recording().records.host_samplings.empty());
}

// --- what is known of interpreters

TEST(PythonLayout, an_unknown_version_or_table_is_refused_with_the_reason) {
    using namespace stacks;
    const Memory memory(getpid());
    std::string why;
    std::array<std::uint64_t, 65> runtime{};
    const auto at = reinterpret_cast<Address>(runtime.data());
    EXPECT_TRUE(python_layout("3.12.7", memory, at, why));
    for (const char* version : {"3.9.18", "3.120.1", "4.10.0", ""}) {
        EXPECT_FALSE(python_layout(version, memory, at, why)) << version;
        EXPECT_EQ("its version is not known", why);
    }
    EXPECT_FALSE(python_layout("3.12.7", memory, 8, why));
    EXPECT_EQ("its memory cannot be read", why);

    std::memcpy(runtime.data(), "xdebugpy", 8);
    EXPECT_FALSE(python_layout("3.13.0", memory, at, why));
    EXPECT_EQ("its version is not known", why);
    runtime[1] = 0x030d00f0;
    EXPECT_FALSE(python_layout("3.13.0", memory, at, why));
    EXPECT_EQ("its table of offsets is not as expected", why);
    for (std::size_t i = 3; i < runtime.size(); ++i) runtime[i] = 8;
    for (const std::size_t size : {3, 6, 19, 28, 34}) runtime[size] = 100;
    EXPECT_TRUE(python_layout("3.13.0", memory, at, why));
    runtime[2] = 1;
    EXPECT_FALSE(python_layout("3.13.0", memory, at, why));
    EXPECT_EQ("it is free-threaded", why);
    runtime[2] = 0;
    runtime[1] = 0x030f00f0;
    EXPECT_FALSE(python_layout("3.15.0", memory, at, why));
}

TEST(PythonLayout, lines_of_instructions) {
    using stacks::line_at;
    using namespace std::string_view_literals;
    // 3.10: pairs of a length in bytes and a change of line; -128 has none.
    EXPECT_EQ(11u, line_at("\x04\x01\x06\x02\x02\x80"sv, 10, 10, 2));
    EXPECT_EQ(13u, line_at("\x04\x01\x06\x02\x02\x80"sv, 10, 10, 4));
    EXPECT_EQ(0u, line_at("\x04\x01\x06\x02\x02\x80"sv, 10, 10, 10));
    EXPECT_EQ(0u, line_at("\x04\x01"sv, 10, 10, 100));
    // Later: a byte of kind and length, then what the kind has.
    EXPECT_EQ(10u, line_at("\x80\x10"sv, 11, 10, 0));                  // short form
    EXPECT_EQ(11u, line_at("\xd9\x01\x02"sv, 11, 10, 2));              // one line further
    EXPECT_EQ(8u, line_at("\xe8\x05"sv, 12, 10, 0));                   // without columns, -2
    EXPECT_EQ(42u, line_at("\xf0\x40\x01\x00\x01\x01"sv, 12, 10, 0));  // long form, +32
    EXPECT_EQ(0u, line_at("\xf8"sv, 13, 10, 0));                       // no line
    EXPECT_EQ(0u, line_at(""sv, 13, 10, 0));
}

}  // namespace
}  // namespace perfgate::inject
