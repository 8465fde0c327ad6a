//! The on-die NICs of Ascend A2 and A3, as `hccn_tool` tells of them.
