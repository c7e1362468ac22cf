"""Where the definitions of a source file stand, by tree-sitter; damaged code has the outline of what is whole in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from tree_sitter import Node
    from tree_sitter_language_pack import SupportedLanguage

_FUNCTIONS = frozenset(
    (
        "function_definition",
        "function_declaration",
        "function_item",
        "function_statement",
        "function_signature_item",
        "generator_function_declaration",
        "method_definition",
        "method_declaration",
        "method",
        "singleton_method",
        "constructor_declaration",
        "destructor_declaration",
        "macro_definition",
        "subroutine_declaration_statement",
        "type_declaration",
        "type_alias_declaration",
        "type_definition",
        "data_type",
        "create_table",
        "create_view",
        "create_function",
        "create_index",
        "table",
        "table_array_element",
        "section",
        "message",
        "rpc",
        "rule",
        "rule_set",
        "function",
    )
)
"""Definitions that are one part, with all that is inside them."""
_CONTAINERS = frozenset(
    (
        "class_definition",
        "class_declaration",
        "abstract_class_declaration",
        "class_specifier",
        "class",
        "struct_specifier",
        "struct_item",
        "struct_declaration",
        "enum_specifier",
        "enum_item",
        "enum_declaration",
        "union_specifier",
        "interface_declaration",
        "record_declaration",
        "trait_item",
        "trait_definition",
        "trait_declaration",
        "impl_item",
        "mod_item",
        "module",
        "internal_module",
        "namespace_definition",
        "namespace_declaration",
        "object_declaration",
        "object_definition",
        "protocol_declaration",
        "service",
    )
)
"""Definitions that hold others; each of those is a part of its own."""
_DRESSED = frozenset(("export_statement", "decorated_definition", "template_declaration", "ambient_declaration"))
"""What stands around a definition and belongs to it."""
_ABOVE = frozenset(("comment", "line_comment", "block_comment", "attribute_item", "annotation", "haddock"))
_VARIABLES = frozenset(("lexical_declaration", "variable_declaration"))
_FUNCTION_VALUES = frozenset(("arrow_function", "function_expression", "function"))
_MAX_DEPTH = 12
"""Levels of the syntax tree that are searched; definitions deeper than that stay with those around them."""
_MAX_LABEL_CHARACTERS = 100
_MAX_LABEL_BYTES = 400
_END_OF_LABEL = re.compile(r"\s*(?:[{(,:]|=>?|\bdo|\bthen|\bas)*\s*$", re.IGNORECASE)


class Part(NamedTuple):
    """Lines that belong together: zero-based, ``end_line`` is behind the last; ``path`` names what they stand in."""

    first_line: int
    end_line: int
    path: tuple[str, ...]


class _Definition(NamedTuple):
    node: Node
    first_line: int
    end_line: int
    is_container: bool


def outline(text: str, language: str) -> list[Part]:
    """The parts of a source text in order; together they hold all its lines."""
    from tree_sitter_language_pack import get_parser

    tree = get_parser(cast("SupportedLanguage", language)).parse(text.encode("utf-8", "replace"))
    lines = text.split("\n")
    found: list[Part] = []
    for part in _parts(tree.root_node, lines, (0, len(lines)), ()):
        says_nothing = not any(map(str.isalnum, "".join(lines[part.first_line : part.end_line])))
        if found and says_nothing:
            found[-1] = found[-1]._replace(end_line=part.end_line)
        else:
            found.append(part)
    return found


def _parts(node: Node, lines: list[str], span: tuple[int, int], path: tuple[str, ...]) -> Iterator[Part]:
    position, end = span
    for definition in _definitions(node, _MAX_DEPTH):
        first = max(definition.first_line, position)
        if definition.end_line <= first or definition.end_line > end:
            continue
        if first > position:
            yield Part(position, first, path)
        label = f"{_label(definition.node, lines)} (lines {first + 1}-{definition.end_line})"
        inner = (first, definition.end_line)
        if definition.is_container and len(path) < _MAX_DEPTH:
            yield from _parts(definition.node, lines, inner, (*path, label))
        else:
            yield Part(*inner, (*path, label))
        position = definition.end_line
    if end > position:
        yield Part(position, end, path)


def _definitions(node: Node, depth: int) -> Iterator[_Definition]:
    """Definitions directly inside a node, through whatever stands between."""
    for child in node.named_children:
        core = _undressed(child)
        if _is_function(core) or core.type in _CONTAINERS:
            end_line = child.end_point[0] + (1 if child.end_point[1] else 0)
            yield _Definition(core, _first_line(child), end_line, core.type in _CONTAINERS)
        elif depth and child.child_count:
            yield from _definitions(child, depth - 1)


def _undressed(node: Node) -> Node:
    while node.type in _DRESSED:
        inner = next((child for child in node.named_children if child.type in _DRESSED or _is_definition(child)), None)
        if inner is None:
            break
        node = inner
    return node


def _is_definition(node: Node) -> bool:
    return _is_function(node) or node.type in _CONTAINERS


def _is_function(node: Node) -> bool:
    if node.type in _VARIABLES:
        values = (part.child_by_field_name("value") for part in node.named_children)
        return any(value is not None and value.type in _FUNCTION_VALUES for value in values)
    if node.type == "block" and node.named_child_count and node.named_children[0].type == "identifier":
        return True
    return node.type in _FUNCTIONS and node.child_count > 0


def _first_line(node: Node) -> int:
    """The line of a definition, or of the comments and attributes directly above it."""
    line = node.start_point[0]
    above = node.prev_sibling
    while above is not None and above.type in _ABOVE and above.end_point[0] >= line - 1:
        before = above.prev_sibling
        if before is not None and before.end_point[0] == above.start_point[0]:
            break
        line = above.start_point[0]
        above = before
    return line


def _label(node: Node, lines: list[str]) -> str:
    """The definition's first line without its opening marks."""
    row, column = node.start_point
    line = lines[row].encode("utf-8", "replace")[column : column + _MAX_LABEL_BYTES].decode("utf-8", "ignore")
    return _END_OF_LABEL.sub("", line.partition("{")[0].strip() or line.strip())[:_MAX_LABEL_CHARACTERS]
