//! Linear equations.

/// Solves `matrix * x = right`, both of equal size, by elimination with the largest pivot. An unknown that nothing says anything
/// about becomes 0.
pub(crate) fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    let mut rows: Vec<Option<usize>> = vec![None; n];
    let mut used = vec![false; n];
    for column in 0..n {
        let free = (0..n).filter(|&row| !used[row]);
        let pivot = free.max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()));
        let Some(pivot) = pivot.filter(|&row| matrix[row][column].abs() > 1e-12) else { continue };
        (used[pivot], rows[column]) = (true, Some(pivot));
        let of_pivot = matrix[pivot].clone();
        for row in (0..n).filter(|&row| row != pivot) {
            let factor = matrix[row][column] / of_pivot[column];
            matrix[row].iter_mut().zip(&of_pivot).for_each(|(entry, pivot)| *entry -= factor * pivot);
            right[row] -= factor * right[pivot];
        }
    }
    rows.iter()
        .enumerate()
        .map(|(column, row)| row.map_or(0.0, |row| right[row] / matrix[row][column]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::solve;

    #[test]
    fn equations_are_solved() {
        let x =
            solve(vec![vec![0.0, 2.0, 1.0], vec![1.0, 1.0, 0.0], vec![3.0, 0.0, 1.0]], vec![7.0, 3.0, 6.0]);
        assert!(x.iter().zip([1.0, 2.0, 3.0]).all(|(x, y)| (x - y).abs() < 1e-9), "{x:?}");
        assert_eq!(solve(vec![vec![2.0, 0.0], vec![0.0, 0.0]], vec![4.0, 0.0]), [2.0, 0.0]);
    }
}
