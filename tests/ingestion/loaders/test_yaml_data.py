from __future__ import annotations

from ingestion.loaders.yaml_data import load_yaml

MANIFEST = """\
# two objects
apiVersion: v1
kind: Service
metadata:
  labels:
    app: web

  name: web
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: inline}
spec:
  replicas: 3  # three
"""


def test_text_stays_and_blocks_are_top_level_keys() -> None:
    document = load_yaml(MANIFEST, name="web.yaml")

    assert document.text == MANIFEST
    assert {(block.kind, block.language) for block in document.blocks} == {("code", "yaml")}
    assert document.text[document.blocks[-1].char_start : document.blocks[-1].char_end] == (
        "spec:\n  replicas: 3  # three"
    )


def test_kind_and_name_are_the_section() -> None:
    paths = [block.heading_path for block in load_yaml(MANIFEST, name="web.yaml").blocks]

    assert list(dict.fromkeys(paths)) == [("Service web",), ("Deployment",)]


def test_comment_stands_with_the_key_below_it() -> None:
    document = load_yaml("a: 1\n# about b\nb: 2\n", name="a.yaml")

    assert [document.text[block.char_start : block.char_end] for block in document.blocks] == [
        "a: 1",
        "# about b\nb: 2",
    ]


def test_list_is_cut_at_its_items() -> None:
    assert len(load_yaml("- hosts: all\n  tasks: []\n- hosts: db\n", name="a.yml").blocks) == 2


def test_aliases_that_multiply_cost_nothing() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + level)}: &{chr(98 + level)} [*{chr(97 + level)}, *{chr(97 + level)}]\n" for level in range(20)
    )

    assert load_yaml(bomb, name="a.yaml").text == bomb
