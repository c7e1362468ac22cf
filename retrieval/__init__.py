"""Find the right chunks: embedders, stores, lexical leg, fusion, search."""
