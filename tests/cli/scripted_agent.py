"""An agent that says what its script says, once it has heard what the script has it hear.

Arguments: the script, a JSON list of `[speaker, line]`, and into how many bytes at once it cuts
what it says. It ends with 9 if it hears anything else, and then says so on standard error.
"""

import json
import os
import sys
from pathlib import Path


def main() -> None:
    """Play the script to its end, and wait for that of the input."""
    script, piece_bytes = sys.argv[1], int(sys.argv[2])
    for speaker, text in json.loads(Path(script).read_text(encoding="utf-8")):
        line = text.encode() + b"\n"
        if speaker == "AGENT":
            for start in range(0, len(line), piece_bytes):
                os.write(1, line[start : start + piece_bytes])
        elif sys.stdin.buffer.readline() != line:
            sys.stderr.write(f"It is not what was to be heard: {text[:200]}\n")
            sys.exit(9)
    if sys.stdin.buffer.read():
        sys.exit(9)


if __name__ == "__main__":
    main()
