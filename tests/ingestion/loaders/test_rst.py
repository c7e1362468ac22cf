from __future__ import annotations

from ingestion.loaders.rst import load_rst

MANUAL = """\
.. _top:

========
 Manual
========

:Author: Jo

Intro with :ref:`the pod <pod-ref>`, :class:`~a.Pod` and `Docs <https://x.y>`_.

Install
=======

.. note:: Read this first.

   More of the note.

.. code-block:: bash
   :linenos:

   pip install x

   run

Example::

    a = 1

    b = 2

- one
- two

  more of two

Sub
---

.. comment here
   not shown

.. toctree::

   not-shown

.. [1] A footnote.
"""


def test_structure_is_found() -> None:
    document = load_rst(MANUAL, name="a.rst")

    assert document.title == "Manual"
    assert document.metadata == {"author": "Jo"}
    parts = [
        (block.kind, document.text[block.char_start : block.char_end], block.heading_path[1:])
        for block in document.blocks
    ]
    assert parts == [
        ("heading", "Manual", ()),
        ("paragraph", "Intro with the pod, a.Pod and Docs.", ()),
        ("heading", "Install", ("Install",)),
        ("paragraph", "Note: Read this first.", ("Install",)),
        ("paragraph", "More of the note.", ("Install",)),
        ("code", "```bash\npip install x\n\nrun\n```", ("Install",)),
        ("paragraph", "Example:", ("Install",)),
        ("code", "```\na = 1\n\nb = 2\n```", ("Install",)),
        ("list", "- one\n- two\n\n  more of two", ("Install",)),
        ("heading", "Sub", ("Install", "Sub")),
        ("paragraph", "[1] A footnote.", ("Install", "Sub")),
    ]


def test_grid_table_is_markdown_and_a_wide_cell_stands_in_each_column() -> None:
    source = "+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n|   | 3 |\n+---+---+\n| wide  |\n+---+---+\n"

    assert load_rst(source, name="a.rst").text == "| a | b |\n| --- | --- |\n| 1 | 2 3 |\n| wide | wide |"


def test_simple_table_is_markdown() -> None:
    source = "=====  =====\nA      B\n=====  =====\n1      two\n       three\n2      x\n=====  =====\n\nAfter.\n"

    assert load_rst(source, name="a.rst").text == ("| A | B |\n| --- | --- |\n| 1 | two three |\n| 2 | x |\n\nAfter.")


def test_other_files_are_never_included() -> None:
    document = load_rst("Words.\n\n.. include:: /etc/passwd\n\n.. raw:: html\n   :file: /etc/passwd\n", name="a.rst")

    assert document.text == "Words."
