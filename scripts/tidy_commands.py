"""usage: tidy_commands.py COMPILE_COMMANDS OUTPUT_FOLDER [FILE...]

Writes OUTPUT_FOLDER/compile_commands.json, the same commands in a form that
clang-tidy understands: no precompiled header, no flag that only GCC knows.
Prints those of FILE... that are compiled (headers are seen through them).
"""
import json
import os
import shlex
import sys

GCC_ONLY = {"-fpch-preprocess", "-Winvalid-pch"}


def clang_arguments(command):
    """Drops the launcher (ccache with its environment), the PCH, GCC's flags."""
    words = shlex.split(command)
    compiler = next(
        number
        for number, word in enumerate(words)
        if os.path.basename(word).startswith(("c++", "g++", "clang++", "gcc", "cc"))
        and os.path.basename(word) != "ccache"
    )
    kept, number = [], compiler
    while number < len(words):
        word = words[number]
        if word == "-include" and "cmake_pch" in words[number + 1]:
            number += 2
            continue
        if word not in GCC_ONLY:
            kept.append(word)
        number += 1
    return kept


def main(source, folder, chosen):
    with open(source, encoding="utf-8") as file:
        entries = json.load(file)
    translated = [
        {
            "directory": entry["directory"],
            "file": entry["file"],
            "arguments": clang_arguments(entry["command"]),
        }
        for entry in entries
        if not entry["file"].endswith("cmake_pch.hxx.cxx")
    ]
    with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump(translated, file, indent=1)
    compiled = {os.path.realpath(entry["file"]) for entry in translated}
    for name in chosen:
        if os.path.realpath(name) in compiled:
            print(name)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
