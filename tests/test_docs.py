"""The documentation names all that there is, nothing that there is not, and shows what works."""

import inspect
import re
from dataclasses import fields
from pathlib import Path

import click
import graphql
import pytest

from toolfold import errors
from toolfold.cli.commands import program
from toolfold.errors import AppError
from toolfold.importers import IMPORTERS, known_formats
from toolfold.schema import build_schema
from toolfold.settings import Settings
from toolfold.store import doctor
from toolfold.store.doctor import database as doctor_database

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
SCHEMA = graphql.build_schema(build_schema().as_str())
BUILT_IN = {*graphql.specified_scalar_types, *graphql.introspection_types}


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def in_code(page: Path) -> set[str]:
    """Return what stands between single backquotes on a page."""
    return set(re.findall(r"`([^`\n]+)`", text(page)))


def fenced(language: str) -> list[tuple[Path, str]]:
    """Return the page and the text of every block of this language."""
    block = re.compile(rf"^```{language}\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return [(page, found) for page in PAGES for found in block.findall(text(page))]


def commands(group: click.Group, *above: str) -> dict[str, click.Command]:
    """Return every command below `group` by the words that call it."""
    found: dict[str, click.Command] = {}
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            found |= commands(command, *above, name)
        else:
            found[" ".join([*above, name])] = command
    return found


def sections(page: Path, level: str) -> dict[str, str]:
    """Return a page's sections by their headings of this level."""
    _, *parts = re.split(rf"^{level} ", text(page), flags=re.MULTILINE)
    return {part.split("\n", 1)[0]: part for part in parts}


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as they are made by those who show Markdown."""
    headings = re.findall(r"^#+ (.+)$", text(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def schema_types() -> dict[str, graphql.GraphQLNamedType]:
    return {name: type_ for name, type_ in SCHEMA.type_map.items() if name not in BUILT_IN}


def test_every_setting_is_documented_with_its_default() -> None:
    documented = dict(
        re.findall(
            r"^\| `([A-Z_]+)` \| ([^|]+?) \|[^|]+\|$", text(DOCS / "settings.md"), re.MULTILINE
        )
    )
    expected = {
        "TOOLFOLD_DATA_DIR": "the platform's user data folder",
        "TOOLFOLD_DATABASE_URL": "(none)",
        "TOOLFOLD_TRUSTED_DOCUMENTS": "(none)",
    }
    for setting in fields(Settings):
        default = str(setting.default)
        variable = setting.metadata["variable"]
        expected.setdefault(variable, f"`{default.lower()}`")
    assert documented == expected


def test_every_error_code_is_documented() -> None:
    codes = {
        value.code
        for _, value in inspect.getmembers(errors, inspect.isclass)
        if issubclass(value, AppError)
    }
    assert codes - set().union(*map(in_code, DOCS.glob("*.md"))) == set()


def test_every_name_in_capitals_that_the_code_gives_out_is_documented() -> None:
    # Codes that are no AppError's, the variables of settings, the values of enums.
    names = {
        name
        for module in (ROOT / "app" / "toolfold").rglob("*.py")
        for line in text(module).splitlines()
        for name in re.findall(r'"([A-Z]+(?:_[A-Z]+)+)"', line)
        if not line.startswith("__all__")
    }
    assert names - set().union(*map(in_code, DOCS.glob("*.md"))) == set()


def test_every_command_is_documented_and_no_other() -> None:
    documented = {
        heading.removeprefix("`toolfold ").split(" ")[0].strip("`")
        for heading in sections(DOCS / "cli.md", "##")
        if heading.startswith("`toolfold ")
    }
    assert documented == set(commands(program))


@pytest.mark.parametrize("name", sorted(commands(program)))
def test_every_option_of_a_command_is_documented_and_no_other(name: str) -> None:
    (section,) = [
        section
        for heading, section in sections(DOCS / "cli.md", "##").items()
        if re.match(rf"`toolfold {name}\b", heading)
    ]
    options = {
        option
        for parameter in commands(program)[name].params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
    }
    documented = set(re.findall(r"^\| `(--[a-z-]+)", section, re.MULTILINE))
    assert documented == options - {"--data-dir", "--database-url"}


def test_every_command_that_is_named_is_there_with_its_options() -> None:
    """On the pages, and in what the viewer says."""
    named = {(page.name, code) for page in PAGES for code in in_code(page)}
    for module in (ROOT / "app" / "viewer" / "src").rglob("*.tsx"):
        named |= {
            (module.name, code) for code in re.findall(r"<code>([^<{]+)</code>", text(module))
        }
    missing = []
    for where, code in named:
        called = re.match(r"(?:\S+=\S* )*toolfold ([a-z][a-z-]*)", code)
        if called is None:
            continue
        command = commands(program).get(called[1])
        parameters = [] if command is None else command.params
        known = {"--help", *(option for parameter in parameters for option in parameter.opts)}
        if command is None or set(re.findall(r"(?<=\s)--[a-z-]+\b", code)) - known:
            missing.append((where, code))
    assert missing == []


def test_every_finding_of_doctor_is_documented_and_no_other() -> None:
    section = sections(DOCS / "cli.md", "##")["`toolfold doctor`"]
    documented = re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE)
    assert sorted(documented) == sorted([doctor_database.NAME, *doctor.CHECKS])


def test_every_transcript_format_is_documented() -> None:
    page = text(DOCS / "importers.md")
    assert {importer.name for importer in IMPORTERS} <= in_code(DOCS / "importers.md")
    named = re.sub(r"\s+", " ", page)
    names = [known_formats.SQLITE, *known_formats._FORMATS]  # noqa: SLF001 (the one list)
    assert [name for name in names if name not in named] == []


def test_every_graphql_type_is_documented() -> None:
    assert set(schema_types()) - in_code(DOCS / "schema.md") == set()


def test_every_field_of_a_type_that_has_a_section_exists() -> None:
    types = schema_types()
    for heading, section in sections(DOCS / "schema.md", "##").items():
        type_ = types.get(heading.strip("`"))
        if isinstance(type_, graphql.GraphQLObjectType | graphql.GraphQLInputObjectType):
            documented = {
                name
                for cell in re.findall(r"^\| (`\w+[^|]*) \|", section, re.MULTILINE)
                for name in re.findall(r"`(\w+)", cell)
            }
            assert documented == set(type_.fields), heading


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_page_and_a_heading_that_are_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", text(page)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


@pytest.mark.parametrize(
    ("page", "document"), fenced("graphql"), ids=lambda value: getattr(value, "stem", "")
)
def test_every_query_that_is_shown_is_valid(page: Path, document: str) -> None:
    found = graphql.validate(SCHEMA, graphql.parse(document))
    assert [error.message for error in found] == [], page


def test_every_decision_is_numbered_without_a_gap_and_listed() -> None:
    decisions = sorted(path.name for path in (DOCS / "decisions").glob("[0-9]*.md"))
    numbers = [int(name[:4]) for name in decisions]
    assert numbers == list(range(1, len(numbers) + 1))
    index = text(DOCS / "index.md")
    assert [name for name in decisions if f"(decisions/{name})" not in index] == []
