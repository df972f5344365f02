"""Portable JSON schemas and argument models, read from a tool's type hints and docstring.

Providers accept different parts of JSON Schema. The common part is `type`, `properties`, `required`, `items`, `enum` and
`description`: references are inlined, `T | None` becomes an optional `T`, and every other constraint is enforced by the
argument model and said in the description.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_type_hints

import docstring_parser
from pydantic import BaseModel, ConfigDict, create_model

from environments.runtime.errors import EnvironmentBug
from environments.runtime.records import JsonObject

_KEPT = ("type", "properties", "required", "items", "enum", "description")


@dataclass(frozen=True)
class ToolSignature:
    """What the world may know of a tool: its description, parameters and schemas, and the models that enforce them."""

    description: str
    examples: str
    parameters: tuple[str, ...]
    arguments: type[BaseModel]
    returns: type[BaseModel]
    input_schema: JsonObject
    output_schema: JsonObject


def read_signature(function: Callable[..., Any]) -> ToolSignature:
    """Read a tool method.

    Raises:
        EnvironmentBug: a hint or description is missing, or a type cannot be expressed portably.
    """
    where = function.__qualname__
    hints = get_type_hints(function)
    parsed = docstring_parser.parse(inspect.getdoc(function) or "", style=docstring_parser.DocstringStyle.GOOGLE)
    said = {parameter.arg_name: parameter.description or "" for parameter in parsed.params}
    if not parsed.short_description:
        raise EnvironmentBug(f"{where} needs a docstring: it becomes the tool's description")
    fields: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
        if name not in hints:
            raise EnvironmentBug(f"{where}: parameter {name} needs a type hint")
        if not said.get(name):
            raise EnvironmentBug(f"{where}: parameter {name} needs a line under Args:")
        fields[name] = (hints[name], ... if parameter.default is inspect.Parameter.empty else parameter.default)
    unknown = said.keys() - fields.keys()
    if unknown:
        raise EnvironmentBug(f"{where}: Args: describes unknown parameters {sorted(unknown)}")
    returns = hints.get("return")
    if not (inspect.isclass(returns) and issubclass(returns, BaseModel)):
        raise EnvironmentBug(f"{where} must return a Result")
    arguments = create_model(f"{function.__name__}_arguments", __config__=ConfigDict(extra="forbid"), **fields)
    input_schema = portable(arguments.model_json_schema(), where)
    for name, schema in input_schema.get("properties", {}).items():
        schema["description"] = " ".join(said[name].split())
    input_schema.setdefault("properties", {})
    return ToolSignature(
        description=_description(parsed),
        examples="\n".join(example.snippet or example.description or "" for example in parsed.examples),
        parameters=tuple(fields),
        arguments=arguments,
        returns=returns,
        input_schema=input_schema,
        output_schema=portable(returns.model_json_schema(mode="serialization"), where),
    )


def portable(schema: JsonObject, where: str) -> JsonObject:
    """Reduce a pydantic schema to the common part.

    Raises:
        EnvironmentBug: the schema needs a union of types, a tuple of fixed length, a free-form object or nulls in a list.
    """
    definitions = schema.get("$defs", {})

    def reduce(node: JsonObject, path: str) -> JsonObject:
        if "$ref" in node:
            target = definitions[node["$ref"].rsplit("/", 1)[1]]
            return reduce({**target, **{key: value for key, value in node.items() if key != "$ref"}}, path)
        if "anyOf" in node:
            options = [option for option in node["anyOf"] if option.get("type") != "null"]
            if len(options) != 1:
                raise EnvironmentBug(f"{where}: {path} is a union of types, which not every provider accepts")
            return reduce({**options[0], **({"description": node["description"]} if "description" in node else {})}, path)
        if "prefixItems" in node:
            raise EnvironmentBug(f"{where}: {path} is a fixed-length tuple; use a record or tuple[T, ...]")
        if "const" in node:
            node = {**node, "enum": [node["const"]]}
        if "type" not in node:
            raise EnvironmentBug(f"{where}: {path} has no type")
        if node["type"] == "object" and "properties" not in node and "additionalProperties" in node and path != "$":
            raise EnvironmentBug(f"{where}: {path} is a free-form object; use a record")
        kept = {key: node[key] for key in _KEPT if key in node}
        if "properties" in kept:
            optional = {name for name, child in kept["properties"].items() if "anyOf" in child}
            kept["properties"] = {name: reduce(child, f"{path}.{name}") for name, child in kept["properties"].items()}
            kept["required"] = [name for name in node.get("required", []) if name not in optional]
            kept.pop("description", None)
        if "items" in kept:
            if "anyOf" in kept["items"]:
                raise EnvironmentBug(f"{where}: {path}[] may hold None, which cannot be left out of a list")
            kept["items"] = reduce(kept["items"], f"{path}[]")
        return kept

    return reduce(schema, "$")


def _description(parsed: docstring_parser.Docstring) -> str:
    parts = [parsed.short_description, parsed.long_description]
    if parsed.returns and parsed.returns.description:
        parts.append(f"Returns: {parsed.returns.description}")
    return "\n".join(" ".join(part.split()) for part in parts if part)
