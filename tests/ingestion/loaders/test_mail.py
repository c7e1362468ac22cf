from __future__ import annotations

from email.message import EmailMessage

import pytest

from ingestion.errors import LoadFailed
from ingestion.loaders.loader import Loaded, LoadOptions, Sample
from ingestion.loaders.select import load, surest


def mail(subject: str = "Pumps", body: str = "P-204 ran dry.") -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Jürgen Groß <juergen@example.org>"
    message["To"] = '"Groß, Anna" <anna@example.org>, ops@example.org'
    message["Subject"] = subject
    message["Date"] = "Mon, 03 Mar 2025 08:15:00 +0100"
    message["Message-ID"] = "<1@example.org>"
    if body:
        message.set_content(body)
    return message


def read(message: EmailMessage | bytes, name: str = "a.eml", options: LoadOptions | None = None) -> Loaded:
    return load(message if isinstance(message, bytes) else message.as_bytes(), name=name, options=options)


def text_of(loaded: Loaded) -> str:
    assert loaded.document is not None
    return loaded.document.text


def test_headers_are_metadata() -> None:
    document = read(mail("Störung – Montag")).document

    assert document is not None
    assert document.title == "Störung – Montag"
    assert document.metadata == {
        "from": "Jürgen Groß <juergen@example.org>",
        "to": ["Groß, Anna <anna@example.org>", "ops@example.org"],
        "subject": "Störung – Montag",
        "message_id": "<1@example.org>",
        "date": "2025-03-03T08:15:00+01:00",
    }


def test_plain_form_is_taken_and_the_web_form_left_out() -> None:
    message = mail(body="The plain words.")
    message.add_alternative("<p>The web words.</p>", subtype="html")

    text = text_of(read(message))

    assert "The plain words." in text
    assert "web words" not in text


def test_web_form_is_taken_where_it_says_much_more() -> None:
    message = mail(body="See the web version.")
    message.add_alternative(f"<h2>Report</h2><p>{'Long words. ' * 50}</p>", subtype="html")

    loaded = read(message)

    assert "See the web version." not in text_of(loaded)
    assert loaded.document is not None
    assert loaded.document.blocks[-1].heading_path == ("Pumps", "Report")


def test_attachments_are_files_and_pictures_of_the_text_are_not() -> None:
    message = mail()
    message.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="März/2025.csv")
    message.add_attachment(b"a,b\n", maintype="text", subtype="csv", filename="März/2025.csv")
    message.add_attachment(b"\x89PNG", maintype="image", subtype="png", disposition="inline", cid="<x>")

    loaded = read(message)

    assert [(child.name, child.data) for child in loaded.children] == [
        ("März_2025.csv", b"a,b\n1,2\n"),
        ("März_2025 (2).csv", b"a,b\n"),
    ]


def test_forwarded_mail_is_a_section_and_its_attachment_a_file() -> None:
    inner = mail("Night shift", "Alarm A-31.")
    inner.add_attachment("log", filename="shift.txt")
    message = mail()
    message.add_attachment(inner)

    loaded = read(message)

    assert loaded.document is not None
    assert loaded.document.blocks[-1].heading_path == ("Pumps", "Night shift")
    assert [child.name for child in loaded.children] == ["shift.txt"]


def test_limits_end_a_mail_of_many_files() -> None:
    message = mail()
    for number in range(4):
        message.add_attachment(b"x" * 100, maintype="application", subtype="pdf", filename=f"{number}.pdf")

    with pytest.raises(LoadFailed) as raised:
        read(message, options=LoadOptions(max_children=3))
    children = read(message, options=LoadOptions(max_children_bytes=250)).children

    assert raised.value.reason == "unsafe_archive"
    assert [child.reason for child in children] == [None, None, "unsafe_archive", "unsafe_archive"]


def test_thousand_mails_within_mails_end_with_a_reason() -> None:
    head = b"Subject: deep\nMIME-Version: 1.0\nContent-Type: message/rfc822\n\n"

    try:
        reasons = [child.reason for child in read(head * 1000 + b"Subject: end\n\nwords").children]
    except LoadFailed as error:
        reasons = [error.reason]

    assert reasons == ["unsafe_archive"]


def test_wrongly_declared_encoding_gives_words_or_a_reason() -> None:
    data = b"Subject: x\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\n"

    assert "Grüße aus München, schöne Straße" in text_of(
        read(data + "Grüße aus München, schöne Straße".encode("cp1252"))
    )


def test_content_tells_a_mail_under_a_wrong_ending() -> None:
    assert surest(Sample(mail().as_bytes(), "a.txt"))[0].family == "mail"
    assert surest(Sample(b"From: me\nTo: you\n\nA letter.", "a.txt"))[0].family == "text"


def test_mailbox_is_a_folder_of_mails() -> None:
    first, second = mail("First: one", "From here on\n"), mail("Second", "Words.")
    box = b"".join(b"From a@b Mon Mar  3 08:15:00 2025\n" + message.as_bytes() + b"\n" for message in (first, second))

    loaded = load(box, name="archive.txt")

    assert loaded.document is None
    assert [child.name for child in loaded.children] == ["00001 First_ one.eml", "00002 Second.eml"]
    assert "From here on" in text_of(read(loaded.children[0].data))


def test_saved_web_page_is_its_main_part() -> None:
    message = EmailMessage()
    message["From"] = "<Saved by Blink>"
    message["Snapshot-Content-Location"] = "https://example.org/page"
    message["Subject"] = "Page"
    message["MIME-Version"] = "1.0"
    message.set_content("<html><body><h1>Pods</h1><p>Über Pods.</p></body></html>", subtype="html")
    message.make_related()
    message.add_related(b"\x89PNG", maintype="image", subtype="png")

    document = load(message.as_bytes(), name="page.bin").document

    assert document is not None
    assert (document.title, document.media_type) == ("Pods", "multipart/related")
    assert document.metadata["url"] == "https://example.org/page"
    assert "Über Pods." in document.text


def test_saved_web_page_without_a_page_is_corrupt() -> None:
    with pytest.raises(LoadFailed) as raised:
        load(b"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n--x\n", name="a.mht")
    assert raised.value.reason == "corrupt"
