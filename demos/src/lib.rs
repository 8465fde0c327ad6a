//! demos
