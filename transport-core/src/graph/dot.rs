//! Drawing a graph in the DOT language.

use std::fmt::Write;

use super::node::Node;
use super::operand::{ByteRange, MemorySpace, Operand};

/// The nodes as a DOT digraph; `data` adds the arrows of the data.
pub(super) fn draw(nodes: &[Node], data: bool) -> String {
    let mut names = Names::default();
    let mut out = String::from("digraph graph_capture {\n    node [shape=box];\n");
    for (index, node) in nodes.iter().enumerate() {
        let mut label = format!("{index}: {} {}", node.kind(), node.name()).trim_end().to_owned();
        for (what, operands) in [("reads", node.reads()), ("writes", node.writes())] {
            for operand in &operands {
                label.push_str(&format!("\n{what} {}", names.describe(operand)));
            }
        }
        // Writing to a String cannot fail.
        let _ = writeln!(out, "    n{index} [label=\"{}\"];", escape(&label));
    }
    for index in 1..nodes.len() {
        let _ = writeln!(out, "    n{} -> n{index};", index - 1);
    }
    if data {
        for (from, to) in data_edges(nodes) {
            let _ = writeln!(out, "    n{from} -> n{to} [style=dashed, constraint=false];");
        }
    }
    out.push_str("}\n");
    out
}

/// Who reads what whom wrote, each pair once: for each read, the writers before it back to the one that covers it all.
fn data_edges(nodes: &[Node]) -> Vec<(usize, usize)> {
    let ranges =
        |operands: Vec<Operand<u8>>| -> Vec<ByteRange> { operands.iter().map(Operand::range).collect() };
    let writes: Vec<_> = nodes.iter().map(|node| ranges(node.writes())).collect();
    let mut edges = Vec::new();
    for (to, node) in nodes.iter().enumerate() {
        for read in ranges(node.reads()) {
            for from in (0..to).rev() {
                if writes[from].iter().any(|write| write.overlaps(&read)) {
                    edges.push((from, to));
                }
                if writes[from].iter().any(|write| write.covers(&read)) {
                    break;
                }
            }
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Buffers by the order in which they appear, for addresses differ from run to run.
#[derive(Default)]
struct Names(Vec<(MemorySpace, usize)>);

impl Names {
    fn describe(&mut self, operand: &Operand<u8>) -> String {
        let ByteRange { memory, start, end } = operand.range();
        let (space, _) = memory;
        if space == MemorySpace::Symmetric {
            return format!("{space} {start}..{end} ({} B)", end - start);
        }
        if !self.0.contains(&memory) {
            self.0.push(memory);
        }
        let number = self.0.iter().filter(|known| known.0 == space).position(|known| *known == memory);
        format!("{space} #{} {start}..{end} ({} B)", number.unwrap_or(0), end - start)
    }
}

/// `text` for inside of a DOT string.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_backslashes_and_lines_stay_inside_of_the_string() {
        assert_eq!(escape("a\"b\\n\nc\td<e>"), "a\\\"b\\\\n\\nc\u{fffd}d<e>");
    }
}
