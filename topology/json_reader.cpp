#include "topology/json_reader.h"

#include "topology/printable_text.h"

namespace egpurun::topology {

Json JsonReader::parse(const std::string& text) const {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw Error(
        ErrorKind::kBadInput,
        asked_,
        "not valid JSON: " + printable_text(error.what()),
        "write the file again with the program that made it",
        place_);
  }
}

std::string JsonReader::text_of(const Json& json, const std::string& where)
    const {
  if (!json.is_string()) {
    fail(where, json, "a text");
  }
  return printable_text(json.get<std::string>());
}

bool JsonReader::fail(
    const std::string& where,
    const Json& json,
    const char* expected) const {
  auto found =
      json.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 60);
  throw Error(
      ErrorKind::kBadInput,
      asked_,
      where + " is " + found + ", not " + expected,
      "correct that field, or write the file again with the program that "
      "made it",
      place_);
}

} // namespace egpurun::topology
