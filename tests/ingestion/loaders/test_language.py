from __future__ import annotations

import pytest

from ingestion.loaders.language import detect
from ingestion.loaders.select import load


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The container was killed because it used more memory than its limit.", "en"),
        ("Der Behälter wurde beendet, weil er mehr Speicher als erlaubt benutzt hat.", "de"),
        ("Контейнер был остановлен, потому что использовал больше памяти, чем разрешено.", "ru"),
        ("コンテナは制限を超えるメモリを使用したため停止されました。", "ja"),
        ("تم إيقاف الحاوية لأنها استخدمت ذاكرة أكثر من الحد المسموح به.", "ar"),
        ("OK", ""),
        ("kubectl get pods -n kube-system --output=wide /var/log/pods/a_b_c/d.log", ""),
        ("", ""),
    ],
)
def test_language_is_told_from_prose_alone(text: str, language: str) -> None:
    assert detect(text) == language


@pytest.mark.parametrize(
    ("data", "name", "language"),
    [
        ("Die Pumpe lief trocken, weil das Ventil klemmte und niemand es bemerkte.", "a.txt", "de"),
        ('<html lang="pt-BR"><body><p>The declared language counts.', "a.html", "pt"),
        ("---\nlanguage: en-GB\n---\nDie Pumpe lief trocken, weil das Ventil klemmte.", "a.md", "en"),
        ("def f():\n    return 'a function that returns a long string of words'\n", "a.py", None),
        ("a,b\nSome English words in a table,and some more of them here\n", "a.csv", None),
    ],
)
def test_document_knows_its_language(data: str, name: str, language: str | None) -> None:
    document = load(data.encode(), name=name).document

    assert document is not None
    assert document.metadata.get("language") == language
