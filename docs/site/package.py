"""The Python package as a page: every public name with its signature and docstring, read from the sources.

Nothing is imported, so nothing need be compiled: Python's sources are parsed, and of the C part its docstrings are
found, which begin with a signature and "--" as CPython wants them.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

MODULES = ["weft", "weft.fft", "weft.kernels", "weft.operators", "weft.plan_cache", "weft.distributed", "weft.dask"]
SPECIAL = ["__init__", "__call__"]


class Sources:
    """The package's files by the names of modules."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.native = native_documentation(folder / "weft" / "_core")
        self.trees: dict[str, ast.Module] = {}

    def tree(self, module: str) -> ast.Module:
        if module not in self.trees:
            path = self.folder.joinpath(*module.split("."))
            path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            self.trees[module] = ast.parse(path.read_text(encoding="utf-8"))
        return self.trees[module]

    def exists(self, module: str) -> bool:
        path = self.folder.joinpath(*module.split("."))
        return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def concatenated(text: str) -> str:
    """What neighbouring C string literals are together."""
    literals = re.findall(r'"((?:[^"\\]|\\.)*)"', text)
    return "".join(literals).replace("\\n", "\n").replace('\\"', '"')


def with_signature(text: str) -> tuple[str, str]:
    signature, documentation = text.split("\n--\n\n", 1)
    return re.sub(r"\s+", " ", signature).replace("$self", "self"), documentation


def native_documentation(folder: Path) -> dict[str, str]:
    """Of each class, function and exception of the C part its declaration, docstring included."""
    found = exceptions(folder / "errors.c")
    found.update(functions(folder / "calls.c"))
    found["Plan"] = class_of(folder / "plan.c")
    return found


def exceptions(path: Path) -> dict[str, str]:
    text = path.read_text(encoding="utf-8")
    builtin = {"ARGUMENT": "ValueError", "MEMORY": "MemoryError", "UNSUPPORTED": "NotImplementedError",
               "RUNTIME": "RuntimeError", "SYSTEM": "OSError"}  # fmt: skip
    base = concatenated(re.search(r'\("weft\.Error",(.*?)PyExc', text, re.DOTALL)[1])
    found = {"Error": f'class Error(Exception):\n    """{base}"""'}
    for kind, name, documentation in re.findall(r'\[(\w+)\] = \{"weft\.(\w+)",\s*((?:"[^"]*"\s*)+)\}', text):
        found[name] = f'class {name}({builtin[kind]}, Error):\n    """{concatenated(documentation)}"""'
    return found


def functions(path: Path) -> dict[str, str]:
    text = path.read_text(encoding="utf-8").replace("\\\n", "\n")
    of_axes = dict(re.findall(r'#define SIGNATURE_(\w+) "(.*?)"\n', text))
    rest = concatenated(re.search(r"#define REST (.*)\n", text)[1]).split("\n")[0]
    calls = re.findall(r'CALL\(\s*(\w+), \w+, \w+, (\w+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', text)
    return {
        name: f'def {name}(x, {of_axes[axes]}{rest}:\n    """{concatenated(documentation)}"""'
        for name, axes, documentation in calls
    }


def class_of(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    literal = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
    signature, documentation = with_signature(concatenated(re.search(rf"documented\[\] =\s*{literal};", text)[1]))
    lines = [*wrapped(f"class {signature}:"), f'    """{indented(documentation)}"""']
    for name, property_of in re.findall(rf'\{{"(\w+)", get_\w+, NULL, {literal}, [^}}]*\}}', text):
        lines.append(f'\n    @property\n    def {name}(self):\n        """{concatenated(property_of)}"""')
    for method in re.findall(rf'\{{"[a-z]\w*", \S+, METH_\w+,\s*{literal}\}}', text):
        call, documentation = with_signature(concatenated(method))
        lines.append(f'\n    def {call}:\n        """{indented(documentation, 8)}"""')
    return "\n".join(lines)


def indented(text: str, spaces: int = 4) -> str:
    return re.sub(r"\n(?=[^\n])", "\n" + " " * spaces, text)


def public(tree: ast.Module) -> list[str]:
    """The names of __all__ or, without it, of what the module defines without an underscore."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return list(ast.literal_eval(node.value))
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [node.name for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")]


def declaration(sources: Sources, module: str, name: str) -> str | None:
    """A name's declaration as Python, without what the bodies do; None for a module."""
    tree = sources.tree(module)
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return "\n".join(outline(node))
        if isinstance(node, ast.Assign) and name in ast.unparse(node.targets[0]).strip("()").split(", "):
            return made(tree, node, name)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and name in [alias.asname or alias.name for alias in node.names]:
            if node.module == "weft._core":
                return sources.native[name]
            if sources.exists(f"{node.module}.{name}"):
                return None
            if not str(node.module).startswith("weft"):
                return f"from {node.module} import {name}"
            return declaration(sources, str(node.module), name)
    raise ValueError(f"{module} has no {name}")


def made(tree: ast.Module, node: ast.Assign, name: str) -> str:
    """The declaration of what a factory makes, several functions from one name: those that it returns by _named, with
    what it calls `tell` as their docstring."""
    factory_name, family = node.value.func.id, node.value.args[0].value
    factory = next(one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == factory_name)
    functions = {one.name: one for one in factory.body if isinstance(one, ast.FunctionDef)}
    returned = next(one.value for one in factory.body if isinstance(one, ast.Return))
    tell = next(one for one in factory.body if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "tell")
    text = ast.unparse(tell.value)[2:-1].replace("{name}", family)
    suffix = name[len(family) :]
    function = next(functions[call.args[2].id] for call in returned.elts if call.args[1].value == suffix)
    return "\n".join([*wrapped(f"def {name}({ast.unparse(function.args)}):"), f'    """{text % suffix}"""'])


def documented(node: ast.FunctionDef | ast.ClassDef, spaces: int) -> list[str]:
    text = ast.get_docstring(node)
    return [f'{" " * spaces}"""{indented(text, spaces)}"""'] if text else []


def outline(node: ast.FunctionDef | ast.ClassDef, spaces: int = 0) -> list[str]:
    """The head and the docstring, and of a class those of its public methods and its fields."""
    indent = " " * spaces
    decorators = [f"{indent}@{ast.unparse(decorator)}" for decorator in node.decorator_list]
    if isinstance(node, ast.FunctionDef):
        result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        head = f"{indent}def {node.name}({ast.unparse(node.args)}){result}:"
        return [*decorators, *wrapped(head), *(documented(node, spaces + 4) or [f"{indent}    ..."])]
    bases = f"({', '.join(ast.unparse(base) for base in node.bases)})" if node.bases else ""
    lines = [*decorators, f"{indent}class {node.name}{bases}:", *documented(node, spaces + 4)]
    for member in node.body:
        if isinstance(member, ast.AnnAssign) and not ast.unparse(member.target).startswith("_"):
            lines.append(f"{indent}    {ast.unparse(member)}")
        elif isinstance(member, ast.FunctionDef) and (member.name in SPECIAL or not member.name.startswith("_")):
            lines += ["", *outline(member, spaces + 4)]
    return lines


def wrapped(head: str, width: int = 110) -> list[str]:
    """A long head with its arguments on lines of their own."""
    if len(head) <= width:
        return [head]
    opening, closing = head.index("(") + 1, head.rindex(")")
    if " -> " in head:
        closing = head.rindex(") -> ")
    indent = " " * (len(head) - len(head.lstrip()) + 4)
    lines, line = [head[:opening]], indent
    for argument in re.split(r"(?<=,) (?![^\[(]*[\])])", head[opening:closing]):
        if len(line) + len(argument) > width:
            lines.append(line.rstrip())
            line = indent
        line += argument + " "
    return [*lines, line.rstrip(), indent[4:] + head[closing:]]


def anchors(folder: Path) -> dict[str, str]:
    """For each public name its place on the page, as docutils makes it of the heading. Of two names that differ in their
    case alone, a class and a function, the first has it."""
    sources = Sources(folder)
    places: dict[str, str] = {}
    for module in MODULES:
        for name in public(sources.tree(module)):
            place = re.sub(r"[^a-z0-9]+", "-", f"{module}.{name}".lower())
            if place not in places.values() and declaration(sources, module, name):
                places[f"{module}.{name}"] = place
                if module == "weft.distributed":
                    places[f"weft.{name}"] = place
    return places


def page(folder: Path) -> str:
    """The page in Markdown."""
    sources = Sources(folder)
    parts = [
        "# Python reference\n",
        "Every public name of the package, with its signature and docstring. [weft for Python](python.md) tells how "
        "they are used.\n",
    ]
    for module in MODULES:
        tree = sources.tree(module)
        parts.append(f"({module.replace('.', '-')}-module)=\n## {module}\n")
        parts.append(f"```text\n{ast.get_docstring(tree)}\n```\n")
        for name in public(tree):
            code = declaration(sources, module, name)
            if code:
                parts.append(f"### `{module}.{name}`\n\n```python\n{code}\n```\n")
    return "\n".join(parts)
