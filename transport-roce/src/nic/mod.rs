//! Which NIC, port and GID this PE uses, and why.
