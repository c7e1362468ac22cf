"""Risk classes of AgentDojo's tools, as an operator writes them into ``mcp.json``: one table, by name.

The rule, in order: what cannot be undone (deletes, removes, cancels, pays) is ``destructive``; what carries text to an
address or a person outside, a page fetch included, is ``egress``; what creates or changes is ``write``; what looks is
``read``. A tool that the table does not name is ``unknown``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tools.types import Risk

_NAMES: Mapping[Risk, str] = {
    "destructive": """
        cancel_calendar_event delete_email delete_file remove_user_from_slack send_money
    """,
    "egress": """
        get_webpage invite_user_to_slack post_webpage send_channel_message send_direct_message send_email share_file
    """,
    "write": """
        add_calendar_event_participants add_user_to_channel append_to_file create_calendar_event create_file
        reschedule_calendar_event reserve_car_rental reserve_hotel reserve_restaurant schedule_transaction
        update_password update_scheduled_transaction update_user_info
    """,
    "read": """
        check_restaurant_opening_hours get_all_car_rental_companies_in_city get_all_hotels_in_city
        get_all_restaurants_in_city get_balance get_car_fuel_options get_car_price_per_day get_car_rental_address
        get_car_types_available get_channels get_contact_information_for_restaurants get_cuisine_type_for_restaurants
        get_current_day get_day_calendar_events get_dietary_restrictions_for_all_restaurants get_draft_emails
        get_file_by_id get_flight_information get_hotels_address get_hotels_prices get_iban
        get_most_recent_transactions get_price_for_restaurants get_rating_reviews_for_car_rental
        get_rating_reviews_for_hotels get_rating_reviews_for_restaurants get_received_emails get_restaurants_address
        get_scheduled_transactions get_sent_emails get_unread_emails get_user_info get_user_information
        get_users_in_channel list_files read_channel_messages read_file read_inbox search_calendar_events
        search_contacts_by_email search_contacts_by_name search_emails search_files search_files_by_filename
    """,
}

RISKS: Mapping[str, Risk] = MappingProxyType({name: risk for risk, names in _NAMES.items() for name in names.split()})


def risk_of(tool: str) -> Risk:
    """Risk class of a tool; ``unknown`` for one that the table does not name."""
    return RISKS.get(tool, "unknown")
