//! The known name that a mistyped one is most like.

/// The name of `known` most like `asked`, if at most a third of its letters are wrong.
pub(super) fn nearest<'a>(asked: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, best) = known.map(|name| (distance(asked, name), name)).min()?;
    (distance <= (asked.chars().count() / 3).max(1)).then_some(best)
}

/// How many letters must be put in, taken out or replaced to make `b` of `a`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    // The distances of the part of `a` read so far to each beginning of `b`.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (read, letter) in a.chars().enumerate() {
        let mut next = vec![read + 1];
        let mut left = read + 1;
        for (other, pair) in b.iter().zip(row.windows(2)) {
            let &[diagonal, above] = pair else { continue };
            left = (diagonal + usize::from(letter != *other)).min(above + 1).min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in
            [("", "", 0), ("a", "", 1), ("", "abc", 3), ("mlx5_0", "mlx5_1", 1), ("mlx50", "mlx5_0", 1)]
        {
            assert_eq!((distance(a, b), distance(b, a)), (expected, expected), "{a} {b}");
        }
    }

    #[test]
    fn only_near_names_are_told() {
        let known = || ["mlx5_0", "rxe_0"].into_iter();
        assert_eq!(nearest("mlx_0", known()), Some("mlx5_0"));
        assert_eq!(nearest("hrn5_0", known()), None);
        assert_eq!(nearest("x", std::iter::empty()), None);
    }
}
