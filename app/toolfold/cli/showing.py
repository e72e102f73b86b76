"""`toolfold show`: one session in outline, and what leaving out its tool content saves."""

import asyncio
from typing import Any

import click
import orjson

from toolfold.cli.listing import short_id
from toolfold.cli.naming import session_of
from toolfold.cli.opening import opened
from toolfold.cli.options import command_with, with_settings
from toolfold.cli.terminal import count, one_line, say, size
from toolfold.documents import Documents
from toolfold.schema.context import Resources
from toolfold.schema.global_id import encode
from toolfold.settings import Settings

_OUTLINE = """
query ($session: ID!, $first: Int) {
  session(id: $session) {
    id title agent status cwd gitBranch createdAt updatedAt
    messageCount toolCallCount contentSize
    project { name }
    parent { id title }
    usage { inputTokens outputTokens cacheReadTokens cacheCreationTokens }
    messages(first: $first) {
      nodes {
        id sequence revision role origin model createdAt repaired contentSize contentPreview
        usage { inputTokens outputTokens cacheReadTokens cacheCreationTokens }
        toolMetadata {
          id toolCallId name title kind status startedAt endedAt
          locations { path line }
          contentSize contentHash contentState contentPreview contentUrl
          rawInput { size hash url }
          rawOutput { size hash url }
          childSession { id }
        }
      }
    }
  }
}
"""
"""A page with every light field; `content` is the one that is left out."""


@click.command()
@click.argument("session", metavar="SESSION")
@click.option("--project", metavar="NAME", help="Look in this project only.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Outline the first N messages. Without it, one page of the largest size.",
)
@with_settings
def show(settings: Settings, session: str, project: str | None, limit: int | None) -> None:
    """Show one session in outline, and what a page of it costs.

    That is with tool content and without: what leaving it out saves.

    SESSION is an id as `toolfold list` shows it, the agent's own id, or the beginning of one.
    """
    first = min(limit or settings.max_page_size, settings.max_page_size)
    found = asyncio.run(_session(settings, session, project, first))
    for line in _head(found):
        say(line)
    messages = found["messages"]["nodes"]
    for message in messages:
        say(_line(message))
    say("")
    if found["messageCount"] > len(messages):
        say(f"{count(found['messageCount'] - len(messages), 'more message')} not shown.")
    say(_saving(found))
    export = command_with(settings, f"export {short_id(found['id'])}")
    say(f"All of it, as JSON lines: {export}")


async def _session(settings: Settings, text: str, project: str | None, first: int) -> Any:
    async with opened(settings) as database:
        key = await session_of(database, settings, text, project)
        variables = {"session": encode("Session", *key), "first": first}
        return (await Documents(Resources(settings, database)).data(_OUTLINE, variables))["session"]


def _head(session: Any) -> list[str]:
    lines = [
        one_line(session["title"], 200) or "(no title)",
        f"  session    {short_id(session['id'])}",
        f"  GraphQL id {session['id']}",
        f"  project    {one_line(session['project']['name'])}",
        f"  agent      {one_line(session['agent'])}, {session['status'].lower()}",
        f"  time       {session['createdAt']} to {session['updatedAt']}",
    ]
    if session["cwd"]:
        branch = f" on {one_line(session['gitBranch'])}" if session["gitBranch"] else ""
        lines.append(f"  folder     {one_line(session['cwd'], 200)}{branch}")
    if session["parent"]:
        parent = session["parent"]
        lines.append(f"  parent     {short_id(parent['id'])} {one_line(parent['title'])}")
    if session["usage"]:
        lines.append(f"  tokens     {_tokens(session['usage'])}")
    lines.append(
        f"  holds      {count(session['messageCount'], 'message')},"
        f" {count(session['toolCallCount'], 'tool call')},"
        f" {size(session['contentSize'])} of tool content"
    )
    return [*lines, ""]


def _tokens(usage: Any) -> str:
    return (
        f"{usage['inputTokens']:,} in, {usage['outputTokens']:,} out,"
        f" {usage['cacheReadTokens']:,} from cache, {usage['cacheCreationTokens']:,} into cache"
    )


def _line(message: Any) -> str:
    start = f"{message['sequence']:>6}  {message['role'].lower():<9}  "
    call = message["toolMetadata"]
    if call is None:
        return start + one_line(message["contentPreview"], 100)
    name = one_line(call["name"], 30)
    title = one_line(call["title"], 60)
    shown = title if title.startswith(name) else f"{name} {title}".strip()
    return f"{start}{shown} · {_state(call)}"


def _state(call: Any) -> str:
    """Return how a call ended and what it left: `failed, 1.2 kB, cut by the agent`."""
    words = [call["status"].lower().replace("_", " ")]
    if call["contentSize"] is not None:
        words.append(size(call["contentSize"]))
    if call["contentState"] == "CUT_BY_AGENT":
        words.append("cut by the agent")
    elif call["contentState"] == "MISSING":
        words.append("its output is missing")
    if call["childSession"] is not None:
        words.append(f"a sub-agent: {short_id(call['childSession']['id'])}")
    return ", ".join(words)


def _saving(session: Any) -> str:
    """Say what the page costs, and what the same page costs with `content` selected.

    Nothing is read for it: a content's size is that of the JSON which the response would hold.
    """
    messages = session["messages"]["nodes"]
    light = len(orjson.dumps({"data": {"session": session}}))
    sizes = [
        call["contentSize"] or len("null")
        for message in messages
        if (call := message["toolMetadata"]) is not None
    ]
    heavy = light + sum(sizes) + len(sizes) * len(',"content":')
    page = f"A page of {count(len(messages), 'message')} costs {size(light)}"
    return f"{page}; with tool content {size(heavy)}: {100 * (1 - light / heavy):.1f} % saved."
