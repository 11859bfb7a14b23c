"""Reads a job file: JSON, checked against job.schema.json; every error names the place and what is allowed there."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

SCHEMA_FILE = Path(__file__).with_name("job.schema.json")
TOP_LEVEL = ("description", "iterations", "warmups", "repeats", "effort", "together", "exclude", "sets")
PER_SET_TOO = ("iterations", "warmups", "repeats", "effort")


class Refusal(Exception):
    """Something that the user must change; its text is one sentence."""


def place_of(path: Any) -> str:
    """The way to a value, as a reader would write it: sets[0].strategies[1]."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text.removeprefix(".")


def shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def _of_another_type(error: Any) -> bool:
    return not error.path and (
        error.validator == "type" or (error.validator == "enum" and not isinstance(error.instance, str))
    )


def _branch_errors(error: Any) -> list[Any]:
    """Of the alternatives of an anyOf, the errors of the one that was meant, if that can be told."""
    branches: dict[int, list[Any]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).append(inner)
    meant = [b for b in branches.values() if not any(_of_another_type(e) for e in b)]
    meant.sort(key=len)
    if not meant or (len(meant) > 1 and len(meant[0]) == len(meant[1])):
        return []
    about_members = ("required", "additionalProperties", "minProperties")
    return meant[0] if all(e.path or e.validator in about_members for e in meant[0]) else []


def sentence_of(error: Any) -> tuple[str, str]:
    """The place of an error and what is wrong there."""
    if error.validator == "anyOf":
        inner = _branch_errors(error)
        if inner:
            return sentence_of(min(inner, key=lambda e: len(e.absolute_path)))
    place, value, schema = place_of(error.absolute_path), error.instance, error.schema
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in value]
        return place, f'"{missing[0]}" is missing'
    if error.validator == "additionalProperties":
        known = schema["properties"]
        extra = next(name for name in value if name not in known)
        return place, f'"{extra}" is not a member here; members are {", ".join(known)}'
    if error.validator == "enum":
        return place, f"{shown(value)} is not one of {', '.join(error.validator_value)}"
    if error.validator in ("minItems", "minProperties") and not value:
        return place, "give at least one"
    return place, f"{shown(value)} is not {schema.get('title', 'a text')}"


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise Refusal(f'"{name}" stands twice in one object')
        members[name] = value
    return members


def _no_constant(text: str) -> Any:
    raise Refusal(f"{text} is not a number of JSON")


def parse(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_no_twins, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise Refusal(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise Refusal("nested too deeply") from None


def check(job: Any) -> None:
    """Raises a Refusal that names the first place where the job is not one."""
    try:
        import jsonschema
    except ImportError:
        raise Refusal(
            f"{sys.executable} lacks jsonschema, which checks jobs; on Debian: apt-get install python3-jsonschema"
        ) from None
    schema = json.loads(SCHEMA_FILE.read_text())
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(job))
    if not errors:
        return
    place, sentence = sentence_of(min(errors, key=lambda e: [str(step) for step in e.absolute_path]))
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    raise Refusal(f"{place}: {sentence}{more}" if place else sentence + more)


def shrink(job: dict[str, Any]) -> dict[str, Any]:
    """The job with its "small" part applied."""
    small = job.get("small")
    if small is None:
        raise Refusal('there is no "small" part; run the job without --small')
    made = {name: value for name, value in job.items() if name != "small"}
    made.update({name: value for name, value in small.items() if name in TOP_LEVEL})
    per_set = {name: value for name, value in small.items() if name not in TOP_LEVEL}
    replaced = [name for name in PER_SET_TOO if name in small] if "sets" not in small else []
    made["sets"] = [{k: v for k, v in one.items() if k not in replaced} | per_set for one in made["sets"]]
    return made


def read_job(path: Path, small: bool = False) -> dict[str, Any]:
    """Reads and checks a job; a Refusal starts with the file's name."""
    try:
        try:
            job = parse(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise Refusal(f"cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise Refusal("not a text in UTF-8") from None
        if not isinstance(job, dict):
            raise Refusal(f"{shown(job)} is not a job: an object with a name and sets")
        check(job)
        return shrink(job) if small else job
    except Refusal as refusal:
        raise Refusal(f"{path}: {refusal}") from None
