//! Says whether this host is fit for a job, and what to do where it is not.

fn main() {}
