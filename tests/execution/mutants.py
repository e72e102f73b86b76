"""The executor with one fault in it: copies of its package, each with a line changed."""

import importlib
import shutil
import sys
from pathlib import Path
from typing import Any

import toolfold.execution

SOURCE = Path(toolfold.execution.__file__).parent

MUTANTS: dict[str, tuple[str, str, str]] = {
    "a null is served where none may be": (
        "generator.py",
        "return self._complete_present(output_type.of_type, value, field, path)\n        completed",
        "output_type = output_type.of_type\n        completed",
    ),
    "aliases are forgotten": (
        "generator.py",
        'parts.append(f"{field.key!r}: {completed}")',
        'parts.append(f"{field.details[0].node.name.value!r}: {completed}")',
    ),
    "fields are turned around": (
        "generator.py",
        "result = f\"{{{', '.join(parts)}}}\"",
        "result = f\"{{{', '.join(reversed(parts))}}}\"",
    ),
    "the type's name is that of the first one met": (
        "generator.py",
        "return repr(field.parent_type.name)",
        "return repr(self._planned.type.name)",
    ),
    "conditions are those of the first request": (
        "plans.py",
        "variant = tuple([values.get(name) for name in self._variables])",
        "variant = ()",
    ),
    "conditions in fragments are overlooked": (
        "planning.py",
        "waiting.extend(fragments[name].definition.selection_set.selections)",
        "pass",
    ),
    "an Int may be of any size": (
        "leaves.py",
        'f"type({value}) is int and -2147483648 <= {value} <= 2147483647"',
        'f"type({value}) is int"',
    ),
    "a BigInt may be of any size": (
        "leaves.py",
        "if serializer.bound is not None:",
        "if False:",
    ),
    "an Int may be a boolean": (
        "leaves.py",
        'f"type({value}) is int and',
        'f"isinstance({value}, int) and',
    ),
    "a String may be bytes": (
        "leaves.py",
        'return f"type({value}) is str"',
        'return f"type({value}) in (str, bytes)"',
    ),
    "a leaf may be an error": (
        "irregular.py",
        "        or isinstance(value, Exception)\n",
        "",
    ),
    "a leaf may be awaitable": (
        "irregular.py",
        "        or optimized_is_awaitable(value)\n",
        "",
    ),
    "a view is never null": (
        "generator.py",
        'with self._block(f"if {column} is not None:"):',
        'with self._block("if True:"):',
    ),
    "nobody asks whose type a value is": (
        "generator.py",
        "if is_type_of is not None and",
        "if False and",
    ),
    "an abstract type is that of the first object": (
        "completion.py",
        "complete = find(type(value)) or generate(value, run)",
        "complete = next(iter(self.objects.by_class.values()), None) or generate(value, run)",
    ),
    "columns are one off": (
        "generator.py",
        "indices = [self._columns[name] for name in self._used_columns]",
        "indices = [self._columns[name] - 1 for name in self._used_columns]",
    ),
    "arguments are those of the first field": (
        "run.py",
        "known = self._arguments.get(call)",
        "known = next(iter(self._arguments.values()), None)",
    ),
    "arguments are left out": (
        "generator.py",
        'given.append(f"**run.arguments({name})")',
        "pass",
    ),
    "list items may be null": (
        "completion.py",
        "if value is None and self._with_nulls:",
        "if value is None:",
    ),
    "places have no index": (
        "generator.py",
        "if index is not None: path = Path(path, index, None)",
        "pass",
    ),
    "places are of another type": (
        "generator.py",
        "{field.key!r}, {field.parent_type.name!r})",
        "{field.key!r}, {self._planned.type.name!r})",
    ),
    "what is loaded is left null": (
        "run.py",
        "target[key] = complete(value, self, path)",
        "complete(value, self, path)",
    ),
    "what is loaded goes elsewhere": (
        "run.py",
        "target[key] = complete(value, self, path)",
        "waiting[0][0][waiting[0][1]] = complete(value, self, path)",
    ),
    "what is loaded is served as it is": (
        "run.py",
        "target[key] = complete(value, self, path)",
        "target[key] = value",
    ),
    "what is loaded is not accepted": (
        "run.py",
        "loading.accepted(made[index] if index in made else loading.via(result))",
        "(made[index] if index in made else loading.via(result))",
    ),
    "texts are cut one too short": (
        "generator.py",
        "{value}[:{length}]",
        "{value}[:{length - 1}]",
    ),
    "fields are refused too late": (
        "generator.py",
        "if self._planned.ordered and not completed.isidentifier():",
        "if False:",
    ),
    "what cannot be loaded is left null": (
        "executor.py",
        "again = self.standard()",
        "again = self.completed",
    ),
}
"""What each mutant gets wrong: the module, a text that is in it once, and what stands for it."""


def mutant(fault: str, folder: Path) -> Any:
    """Return the executor of a copy that has a fault.

    The vocabulary of `plain` stays the one in which the schema speaks.
    """
    file_name, text, replacement = MUTANTS[fault]
    package = f"mutant_{list(MUTANTS).index(fault)}"
    shutil.copytree(SOURCE, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for module in (folder / package).glob("*.py"):
        source = module.read_text(encoding="utf-8")
        if module.name == file_name:
            assert source.count(text) == 1, f"{text!r} is in {file_name} {source.count(text)} times"
            source = source.replace(text, replacement)
        source = source.replace("toolfold.execution.", f"{package}.")
        source = source.replace(f"{package}.plain", "toolfold.execution.plain")
        source = source.replace(
            "from toolfold.execution import plain", f"from {package} import plain"
        )
        module.write_text(source, encoding="utf-8")
    shutil.copy(SOURCE / "plain.py", folder / package / "plain.py")
    sys.path.insert(0, str(folder))
    try:
        sys.modules[f"{package}.plain"] = importlib.import_module("toolfold.execution.plain")
        return importlib.import_module(f"{package}.executor").CompilingExecutor
    finally:
        sys.path.remove(str(folder))
