"""The button that saves an answer as one file which can be checked later; the file is made when it is pressed."""

from __future__ import annotations

from functools import partial

import streamlit as st

from app.schema import RunInfo
from ui import session

_HELP = "One signed file with sentences, quotes and sources; check it with: groundwork verify FILE"


def draw_receipt_button(run: RunInfo) -> None:
    """Draw the button of a run that has an answer."""
    st.download_button(
        "Save receipt",
        data=partial(session.client().receipt, run.run_id),
        file_name=f"groundwork-{run.run_id[:12]}.receipt.json",
        mime="application/json",
        key=f"receipt-{run.run_id}",
        help=_HELP,
        on_click="ignore",
        type="tertiary",
        icon=":material/receipt_long:",
    )
