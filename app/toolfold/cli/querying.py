"""`toolfold query` and `toolfold schema`: GraphQL without a server."""

import asyncio
from typing import Any

import click
import orjson

from toolfold.cli.opening import opened
from toolfold.cli.options import with_settings
from toolfold.cli.terminal import say
from toolfold.documents import Documents
from toolfold.errors import BadUserInputError, NotFoundError
from toolfold.schema import build_schema
from toolfold.schema.context import Resources
from toolfold.settings import Settings


@click.command()
@click.argument("document", metavar="DOC")
@click.option(
    "--variables", metavar="JSON", help="An object: JSON text, @FILE, or - for standard input."
)
@with_settings
def query(settings: Settings, document: str, variables: str | None) -> None:
    """Run a GraphQL document and print the response as JSON.

    DOC is the document's text, @FILE to read it from a file, or - for standard input. No server
    is needed. The exit code is 1 if the response has errors and no data.

    \b
    For example:
      toolfold query '{ sessions(first: 5) { nodes { id title } } }'
      toolfold query @page.graphql --variables '{"id": "..."}'
    """  # noqa: D301 (click's mark of a paragraph that is shown as it stands)
    text = _text(document)
    if not text.strip():
        raise BadUserInputError("The document is empty.", argument="DOC")
    response = asyncio.run(_response(settings, text, _variables(variables)))
    say(orjson.dumps(response, option=orjson.OPT_INDENT_2).decode())
    if response.get("errors") and response.get("data") is None:
        raise click.exceptions.Exit(1)


async def _response(settings: Settings, text: str, variables: dict[str, Any]) -> dict[str, Any]:
    async with opened(settings) as database:
        return await Documents(Resources(settings, database)).response(text, variables)


def _text(argument: str) -> str:
    """Return what an argument means: itself, a file's text, or that of standard input."""
    if argument != "-" and not argument.startswith("@"):
        return argument
    path = argument.removeprefix("@")
    if not path:
        raise BadUserInputError("@ is followed by the name of a file.", argument="DOC")
    try:
        with click.open_file(path, "rb") as file:
            return bytes(file.read()).decode("utf-8")
    except OSError as error:
        raise NotFoundError(f"{path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise BadUserInputError(f"{path}: is not UTF-8 text.", argument="DOC") from error


def _variables(argument: str | None) -> dict[str, Any]:
    if argument is None:
        return {}
    try:
        value = orjson.loads(_text(argument))
    except orjson.JSONDecodeError as error:
        message = f"--variables is not JSON: {error}."
        raise BadUserInputError(message, argument="variables") from error
    if not isinstance(value, dict):
        raise BadUserInputError("--variables must be a JSON object.", argument="variables")
    return value


@click.command()
def schema() -> None:
    """Print the GraphQL schema (SDL)."""
    say(build_schema().as_str())
