"""Tools that come with Groundwork, one a file; what they need comes in as functions and small protocols."""
