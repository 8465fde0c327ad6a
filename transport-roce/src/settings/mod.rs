//! What can be set about the RoCE backend.
