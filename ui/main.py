"""Entry of the chat UI: ``python -m streamlit run ui/main.py``, the API's address in ``GROUNDWORK_API_URL``."""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    # Streamlit puts this script's folder on the path, not the folder of the packages.
    sys.path.insert(0, str(ROOT))

from ui.errors import UiError  # noqa: E402
from ui.passage_drawer import CHAT_PAGE, DOCUMENTS_PAGE  # noqa: E402
from ui.preset_picker import PRESETS_PAGE  # noqa: E402
from ui.problem import draw_problem  # noqa: E402
from ui.waiting import waiting_count, watch_waiting  # noqa: E402

ICON = Path(__file__).parent / "assets" / "icon.svg"


def main() -> None:
    """Set the page up and draw the page that the address names."""
    st.set_page_config(page_title="Groundwork", page_icon=ICON, layout="centered", initial_sidebar_state="auto")
    st.logo(str(ICON.with_name("logo.svg")), icon_image=str(ICON), size="large")
    st.html(ICON.with_name("page.css"))
    waiting = waiting_count()
    page = st.navigation(
        [
            st.Page(CHAT_PAGE, title="Chat", icon=":material/forum:", default=True),
            st.Page(
                "views/approvals.py",
                title=f"Approvals ({waiting})" if waiting else "Approvals",
                icon=":material/pan_tool:",
                url_path="approvals",
            ),
            st.Page(DOCUMENTS_PAGE, title="Documents", icon=":material/folder_open:"),
            st.Page("views/search.py", title="Search", icon=":material/search:"),
            st.Page("views/tools.py", title="Tools", icon=":material/construction:"),
            st.Page(PRESETS_PAGE, title="Presets", icon=":material/tune:"),
            st.Page("views/memory.py", title="Memory", icon=":material/psychology:"),
            st.Page("views/evals.py", title="Evals", icon=":material/monitoring:"),
        ]
    )
    try:
        page.run()
    except UiError as error:
        draw_problem(error)
    with st.sidebar:
        watch_waiting(waiting)


main()
