#include "launcher/options/command_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "topology/error.h"
#include "topology/printable_text.h"

namespace egpurun::launcher {

namespace {

Error command_line_error(std::string found, std::string advice) {
  return Error(
      ErrorKind::kBadInput,
      "read the command line",
      std::move(found),
      std::move(advice));
}

bool looks_like_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-';
}

[[noreturn]] void fail_unknown(const std::string& word, std::string_view name) {
  const std::string found =
      fmt::format("unknown option '{}'", topology::printable_text(word));
  if (const auto* foreign = find_foreign_option(name)) {
    throw command_line_error(
        fmt::format("{}, which belongs to {}", found, foreign->of),
        fmt::format("with Open MPI write {}", foreign->write));
  }
  const std::string nearest = nearest_option(name);
  throw command_line_error(
      found,
      nearest.empty()
          ? "`egpurun --help` lists all options"
          : fmt::format("did you mean '{}'? --help lists all", nearest));
}

[[noreturn]] void fail_version(const std::string& word, unsigned version) {
  throw command_line_error(
      fmt::format(
          "'{}' is an option of Open MPI 5, the installed one is {}",
          word,
          version == kVersion4 ? "4" : "another"),
      "write Open MPI 4's form (`egpurun --help` lists both), or install 5");
}

// "-qv": letters without values in one word, as mpirun 4.1 allows.
const OptionRow* find_letters(const std::string& word, unsigned version) {
  if (word.size() < 3 || word[1] == '-') {
    return nullptr;
  }
  const OptionRow* first = nullptr;
  for (const char letter : word.substr(1)) {
    const auto* row = find_option(std::string_view(&letter, 1), version);
    if (row == nullptr || row->values != 0) {
      return nullptr;
    }
    first = first == nullptr ? row : first;
  }
  return first;
}

// Reads the words of one context, from `next_` on.
class ContextReader {
 public:
  ContextReader(const Words& words, unsigned version)
      : words_(words), version_(version) {}

  Context read(std::vector<GivenOption>& own) {
    Context context;
    while (next_ < words_.size() && looks_like_option(words_[next_])) {
      if (words_[next_] == "--") {
        context.has_end_mark = true;
        ++next_;
        break;
      }
      GivenOption option = read_option();
      const bool is_own = option.row->group == OptionGroup::kOwn;
      (is_own ? own : context.options).push_back(std::move(option));
    }
    context.program.assign(
        words_.begin() + static_cast<std::ptrdiff_t>(next_), words_.end());
    return context;
  }

 private:
  GivenOption read_option() {
    const std::string word = words_[next_++];
    const auto equals = word.find('=');
    const std::string spelled = word.substr(0, equals);
    GivenOption option;
    option.name = spelled.substr(spelled.starts_with("--") ? 2 : 1);
    option.row = find_option(option.name, version_);
    if (option.row == nullptr) {
      option.row = find_letters(word, version_);
    }
    if (option.row == nullptr) {
      fail_unknown(word, option.name);
    }
    if (version_ == kVersion4 && (option.row->versions & version_) == 0) {
      fail_version(spelled, version_);
    }
    option.words = {word};
    if (equals != std::string::npos) {
      take_joined_value(option, spelled, word.substr(equals + 1));
    }
    take_values(option);
    return option;
  }

  void take_joined_value(
      GivenOption& option,
      const std::string& spelled,
      const std::string& value) {
    if (option.row->values == 0) {
      throw command_line_error(
          fmt::format("'{}' takes no value", spelled),
          fmt::format("write {} alone", spelled));
    }
    option.values.push_back(value);
    if (option.row->values != kOptionalValue) {
      option.words = {spelled, value};
    }
  }

  void take_values(GivenOption& option) {
    if (option.row->values == kOptionalValue) {
      if (option.values.empty() && next_ < words_.size() &&
          words_[next_][0] != '-' && option.row->role == OptionRole::kHelp) {
        take_value(option);
      }
      return;
    }
    while (static_cast<int>(option.values.size()) < option.row->values) {
      if (next_ == words_.size()) {
        throw command_line_error(
            fmt::format(
                "'{}' needs {} value{}: {}",
                option.words[0],
                option.row->values,
                option.row->values == 1 ? "" : "s",
                option.row->value_names),
            fmt::format(
                "write {} {}", option.words[0], option.row->value_names));
      }
      take_value(option);
    }
  }

  void take_value(GivenOption& option) {
    option.values.push_back(words_[next_]);
    option.words.push_back(words_[next_]);
    ++next_;
  }

  const Words& words_;
  const unsigned version_;
  std::size_t next_ = 0;
};

// mpirun splits at every ':', even among a program's arguments.
std::vector<Words> split_contexts(const Words& words) {
  std::vector<Words> contexts(1);
  for (const auto& word : words) {
    if (word == ":") {
      contexts.emplace_back();
    } else {
      contexts.back().push_back(word);
    }
  }
  return contexts;
}

} // namespace

CommandLine parse_command_line(const Words& words, unsigned version) {
  CommandLine line;
  for (const auto& context : split_contexts(words)) {
    line.contexts.push_back(ContextReader(context, version).read(line.own));
  }
  return line;
}

const GivenOption* find_given(const Context& context, OptionRole role) {
  const GivenOption* found = nullptr;
  for (const auto& option : context.options) {
    found = option.row->role == role ? &option : found;
  }
  return found;
}

bool has_option(const CommandLine& line, OptionRole role) {
  return std::ranges::any_of(
             line.own,
             [&](const auto& option) { return option.row->role == role; }) ||
      std::ranges::any_of(line.contexts, [&](const auto& context) {
           return find_given(context, role) != nullptr;
         });
}

std::string parameter_value(const CommandLine& line, const std::string& name) {
  std::string value;
  for (const auto& context : line.contexts) {
    for (const auto& option : context.options) {
      if (option.row->role == OptionRole::kParameter &&
          option.values.front() == name) {
        value = option.values.back();
      }
    }
  }
  return value;
}

Words format_words(const CommandLine& line) {
  Words words;
  for (std::size_t i = 0; i < line.contexts.size(); ++i) {
    const auto& context = line.contexts[i];
    if (i > 0) {
      words.emplace_back(":");
    }
    for (const auto& option : context.options) {
      words.insert(words.end(), option.words.begin(), option.words.end());
    }
    if (context.has_end_mark) {
      words.emplace_back("--");
    }
    words.insert(words.end(), context.program.begin(), context.program.end());
  }
  return words;
}

} // namespace egpurun::launcher
