#include "launcher/start/program_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>

extern char** environ;

namespace egpurun::launcher {

namespace {

using Clock = std::chrono::steady_clock;

// Starts the program with its output in a pipe; the read end, or -1.
int spawn_reader(
    const std::string& path,
    const Words& command,
    StandardError standard_error,
    pid_t& pid) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return -1;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  if (standard_error == StandardError::kJoined) {
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  } else if (standard_error == StandardError::kDropped) {
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  }
  std::vector<char*> words;
  for (const auto& word : command) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  const int failed =
      posix_spawn(&pid, path.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    close(ends[0]);
    return -1;
  }
  return ends[0];
}

// False if `deadline` passed before the writer closed its end.
bool read_until_closed(int end, Clock::time_point deadline, std::string& text) {
  std::array<char, 4096> buffer{};
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - Clock::now());
    pollfd waiting{.fd = end, .events = POLLIN, .revents = 0};
    if (left.count() <= 0 ||
        poll(&waiting, 1, static_cast<int>(left.count())) == 0) {
      return false;
    }
    const ssize_t count = read(end, buffer.data(), buffer.size());
    if (count <= 0) {
      return true;
    }
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

} // namespace

std::optional<ProgramOutput> read_program_output(
    const Words& command,
    Seconds limit,
    StandardError standard_error,
    const std::string& path) {
  pid_t pid = 0;
  const int end = spawn_reader(
      path.empty() ? command[0] : path, command, standard_error, pid);
  if (end < 0) {
    return std::nullopt;
  }
  ProgramOutput output;
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  const bool ended = read_until_closed(end, deadline, output.text);
  close(end);
  if (!ended) {
    kill(pid, SIGKILL);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (!ended) {
    return std::nullopt;
  }
  output.status =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return output;
}

} // namespace egpurun::launcher
