"""Token usage: one model response is several lines that repeat it, and counts once."""

from collections.abc import Iterator

from toolfold.importers.claude_code.records import Fields
from toolfold.transcript import Json, Message, MessageUsage, Usage


class Responses:
    """The responses of one session as they are read: each counts once, in its last version.

    The last message of a response carries its usage, so it is told when the response has ended:
    when another one begins, or at the end of the file. One that is read on after another began
    counts anew, and where it was counted before it is taken back; so are the earlier messages of
    one, as the file may have ended amid it when it was imported before. A message without text
    is told only if the response has no other by then.
    """

    def __init__(self) -> None:
        self._current: str | None = None
        self._usage: Usage | None = None
        self._messages: list[str] = []
        self._silent: Message | None = None
        self._last_messages: dict[int, str] = {}
        """The message that may carry the usage of each response that has ended."""

    def is_current(self, response: str) -> bool:
        """Say whether `response` is the one being read."""
        return response == self._current

    def begin(self, response: str) -> Iterator[Message | MessageUsage]:
        """Read on in another response, and tell what the end of the last one tells."""
        yield from self.end()
        self._current = response
        before = self._last_messages.get(hash(response))
        self._messages = [] if before is None else [before]

    def usage(self, value: Json) -> None:
        """Take a line's `usage` as the current response's newest."""
        if isinstance(value, dict):
            self._usage = parse_usage(value)

    def message(self, client_id: str) -> None:
        """Take the message `client_id` as the current response's last one so far."""
        self._messages.append(client_id)

    def silent(self, message: Message) -> None:
        """Take a message without text, which is needed only if the response has no other."""
        # The first one, as it is the one that was told if the file once ended after it.
        if not self._messages:
            self._silent = self._silent or message

    def tell_silent(self) -> Iterator[Message]:
        """Tell the message without text now if the response has no other that carries its usage."""
        if self._silent is not None and self._usage is not None and not self._messages:
            yield self._silent
            self._messages.append(self._silent.client_id)
            self._silent = None

    def end(self) -> Iterator[Message | MessageUsage]:
        """Tell which message carries the usage of the current response, and forget it."""
        yield from self.tell_silent()
        if self._usage is not None and self._messages:
            # It was told if the file once ended, or went on with another response, after it.
            told = [self._silent.client_id] if self._silent is not None else []
            for earlier in (*told, *self._messages[:-1]):
                yield MessageUsage(earlier, None)
            yield MessageUsage(self._messages[-1], self._usage)
        if self._current is not None and self._messages:
            self._last_messages[hash(self._current)] = self._messages[-1]
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
