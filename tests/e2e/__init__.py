"""The whole system, through its outermost doors."""
