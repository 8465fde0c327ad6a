//! Safe objects over verbs: each keeps its parents alive.
