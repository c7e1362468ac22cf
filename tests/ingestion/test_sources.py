from __future__ import annotations

import os
from pathlib import Path

import pytest

from ingestion.ignoring import PatternRefused
from ingestion.sources import Discovery, Source, discover, identity_of


def names(folder: Path, *paths: str) -> list[str]:
    return [Path(source.source).relative_to(folder).as_posix() for source in discover(paths)]


def tree(folder: Path) -> Path:
    for name in ("z.md", "sub/a.txt", "sub/deep/b.md", ".git/config", ".hidden.md", "sub/.cache/x.md"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text", "utf-8")
    return folder


def test_folder_is_taken_whole_and_sorted_without_hidden_files(tmp_path: Path) -> None:
    assert names(tmp_path, str(tree(tmp_path))) == ["sub/a.txt", "sub/deep/b.md", "z.md"]


def test_glob_crosses_folders(tmp_path: Path) -> None:
    assert names(tmp_path, f"{tree(tmp_path)}/**/*.md") == ["sub/deep/b.md", "z.md"]


def test_named_hidden_file_is_taken(tmp_path: Path) -> None:
    assert names(tmp_path, str(tree(tmp_path) / ".hidden.md")) == [".hidden.md"]


def test_source_named_twice_is_found_once(tmp_path: Path) -> None:
    assert names(tmp_path, str(tree(tmp_path) / "z.md"), f"{tmp_path}/sub/../*.md") == ["z.md"]


def test_loop_of_links_ends(tmp_path: Path) -> None:
    (tree(tmp_path) / "sub" / "loop").symlink_to(tmp_path, target_is_directory=True)

    found = names(tmp_path, str(tmp_path))

    assert {"sub/a.txt", "sub/deep/b.md", "z.md"} <= set(found)
    assert len(found) <= 6


def test_missing_path_is_a_failure_and_not_pruned(tmp_path: Path) -> None:
    discovery = discover([str(tmp_path / "gone")])

    assert [(failure.status, failure.reason) for failure in discovery.failures] == [("failed", "not_found")]
    assert not discovery.may_prune(f"{tmp_path}/gone/a.md")


def test_glob_without_a_match_is_a_failure(tmp_path: Path) -> None:
    assert [failure.reason for failure in discover([f"{tmp_path}/*.md"]).failures] == ["not_found"]


def test_name_that_is_not_utf8_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("text", "utf-8")

    discovery = discover([str(tmp_path)])

    assert (len(discovery), [failure.reason for failure in discovery.failures]) == (0, ["unreadable"])


def test_only_what_was_looked_at_may_be_pruned(tmp_path: Path) -> None:
    discovery = discover([str(tree(tmp_path) / "sub")])

    assert discovery.may_prune(f"{tmp_path}/sub/old.md")
    assert not discovery.may_prune(f"{tmp_path}/subway/old.md")
    assert not discovery.may_prune("upload:old.md")


def test_document_id_depends_on_source_and_collection(tmp_path: Path) -> None:
    source = Source.upload(tmp_path, name="a.md").source

    assert identity_of(source, "one") == identity_of(source, "one")
    assert identity_of(source, "one").document_id != identity_of(source, "two").document_id


def test_patterns_leave_files_and_folders_out(tmp_path: Path) -> None:
    root = str(tree(tmp_path))

    assert [source.name for source in discover([root], exclude=["*.txt", "/sub/deep/"])] == ["z.md"]
    assert [source.name for source in discover([f"{root}/**/*.md"], exclude=["deep"])] == ["z.md"]
    assert discover([f"{root}/*.md"], exclude=["z.md"]).sources == ()
    assert [source.name for source in discover([f"{root}/z.md"], exclude=["*.md"])] == ["z.md"]


def test_ignore_files_hold_below_their_folder_and_inner_ones_win(tmp_path: Path) -> None:
    root = tree(tmp_path)
    (root / ".groundworkignore").write_text("# drafts\n*.md\n!z.md\n", "utf-8")
    (root / "sub" / ".groundworkignore").write_text("!/deep/b.md\na.txt\n", "utf-8")

    assert names(root, str(root)) == ["sub/deep/b.md", "z.md"]


def test_what_is_excluded_for_a_run_no_ignore_file_takes_in_again(tmp_path: Path) -> None:
    root = tree(tmp_path)
    (root / ".groundworkignore").write_text("!z.md\n", "utf-8")

    assert "z.md" not in [source.name for source in discover([str(root)], exclude=["z.md"])]


def test_pattern_that_cannot_be_understood_is_said_where_it_stands(tmp_path: Path) -> None:
    root = tree(tmp_path)
    (root / "sub" / ".groundworkignore").write_text("!\n", "utf-8")

    discovery = discover([str(root)])

    assert [source.name for source in discovery] == ["z.md"]
    assert [(failure.source, failure.reason) for failure in discovery.failures] == [(f"{root}/sub", "unreadable")]
    assert not discovery.may_prune(f"{root}/sub/a.txt")
    with pytest.raises(PatternRefused):
        discover([str(root)], exclude=["!"])


def test_name_of_a_web_page_is_the_last_part_of_its_path() -> None:
    def name(url: str, ending: str = "") -> str:
        return Source(url, Path("x"), ending).name

    assert name("https://docs.example/a/Pod%20limits.html?x=1#y") == "Pod limits.html"
    assert name("https://docs.example/a/limits/", ".html") == "limits.html"
    assert name("https://docs.example") == "docs.example"
    assert name("s3://bucket/docs/a.md") == "a.md"


def test_discoveries_are_joined_in_order(tmp_path: Path) -> None:
    first = Discovery((Source("/b", tmp_path),), roots=("/b",))
    second = Discovery((Source("/a", tmp_path),), roots=("/a",), unreadable=("/a/x",))

    both = first.joined(second)

    assert [source.source for source in both] == ["/a", "/b"]
    assert [both.may_prune(source) for source in ("/b", "/a/y", "/a/x")] == [True, True, False]
