"""Token usage: one model response is several lines that repeat it, and counts once."""

from collections.abc import Iterator
from dataclasses import replace

from toolfold.importers.claude_code.records import Fields
from toolfold.transcript import Json, Message, MessageUsage, Usage


class Responses:
    """The responses of one session as they are read: each counts once, in its last version.

    The last message of a response carries its usage, so it is told when the response has ended:
    when the next one begins, or at the end of the file. There, the file may still be growing;
    that is why the earlier messages of a response are told to carry none.
    """

    def __init__(self) -> None:
        self._current: str | None = None
        self._usage: Usage | None = None
        self._messages: list[str] = []
        self._silent: Message | None = None
        self._ended: set[int] = set()

    def is_current(self, response: str) -> bool:
        """Say whether `response` is the one being read."""
        return response == self._current

    def begin(self, response: str) -> Iterator[Message | MessageUsage]:
        """Read on in another response, and tell what the end of the last one tells."""
        yield from self.end(over=True)
        self._current = response

    def usage(self, value: Json) -> None:
        """Take a line's `usage` as the current response's newest, unless it was counted before."""
        if isinstance(value, dict) and hash(self._current) not in self._ended:
            self._usage = parse_usage(value)

    def message(self, client_id: str) -> None:
        """Take the message `client_id` as the current response's last one so far."""
        self._messages.append(client_id)

    def silent(self, message: Message) -> None:
        """Take a message without text, which is needed only if the response has no other."""
        self._silent = message

    def end(self, *, over: bool) -> Iterator[Message | MessageUsage]:
        """Tell which message carries the usage of the current response, and forget it.

        Unless the response is `over`, more of it may follow when the file grows.
        """
        if self._usage is not None and self._messages:
            for earlier in self._messages[:-1]:
                yield MessageUsage(earlier, None)
            yield MessageUsage(self._messages[-1], self._usage)
        elif over and self._usage is not None and self._silent is not None:
            yield replace(self._silent, usage=self._usage)
        if self._current is not None:
            self._ended.add(hash(self._current))
        self._current, self._usage, self._silent = None, None, None
        self._messages = []


def parse_usage(usage: Json) -> Usage:
    """Return the tokens of the Messages API's `usage` object; what it leaves out is 0."""
    return Usage(
        input_tokens=_count(usage, "input_tokens"),
        output_tokens=_count(usage, "output_tokens"),
        cache_read_tokens=_count(usage, "cache_read_input_tokens"),
        cache_creation_tokens=_count(usage, "cache_creation_input_tokens"),
    )


def _count(usage: Fields, key: str) -> int:
    value = usage.get(key)
    return value if type(value) is int and value > 0 else 0
