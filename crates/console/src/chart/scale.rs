//! The vertical axis: round numbers, and the place of a value between them.

/// Most steps of the grid.
const MAX_STEPS: i64 = 4;

/// A vertical axis from zero to a round number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Scale {
    step: i64,
    steps: i64,
}

impl Scale {
    /// Returns the axis for values up to `highest`. A step is 1, 2 or 5 times a power of ten, and
    /// at least one `unit`.
    pub(super) fn of(highest: i64, unit: i64) -> Self {
        let mut step = unit.max(1);
        let mut factors = [2, 5, 10].into_iter().cycle();
        let mut power = step;
        while step.saturating_mul(MAX_STEPS) < highest {
            let factor = factors.next().unwrap_or(10);
            step = power.saturating_mul(factor);
            if factor == 10 {
                power = step;
            }
        }
        let steps = (highest.max(0) + step - 1) / step;
        Self {
            step,
            steps: steps.max(1),
        }
    }

    /// Returns the values of the grid, from zero.
    pub(super) fn ticks(self) -> impl Iterator<Item = i64> {
        (0..=self.steps).map(move |at| at * self.step)
    }

    /// Returns the distance of a value from the top of a plot.
    pub(super) fn y(self, value: i64, height: i64) -> i64 {
        let top = i128::from(self.step) * i128::from(self.steps);
        let value = i128::from(value).clamp(0, top);
        let above = value * i128::from(height) / top.max(1);
        height - i64::try_from(above).unwrap_or(height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_few_round_numbers() {
        let cases: [(i64, i64, &[i64]); 7] = [
            (0, 1, &[0, 1]),
            (3, 1, &[0, 1, 2, 3]),
            (7, 1, &[0, 2, 4, 6, 8]),
            (99, 1, &[0, 50, 100]),
            (1_234, 1, &[0, 500, 1_000, 1_500]),
            (95_000, 10_000, &[0, 50_000, 100_000]),
            (5, 10_000, &[0, 10_000]),
        ];
        for (highest, unit, expected) in cases {
            let ticks: Vec<i64> = Scale::of(highest, unit).ticks().collect();
            assert_eq!(ticks, expected, "{highest} {unit}");
        }
    }

    #[test]
    fn a_value_stands_between_bottom_and_top() {
        let scale = Scale::of(100, 1);
        assert_eq!(
            [0, 50, 100, 900, -5].map(|value| scale.y(value, 200)),
            [200, 100, 0, 0, 200]
        );
        let large = Scale::of(i64::MAX / 4, 1);
        assert!((0..200).contains(&large.y(i64::MAX / 5, 200)));
    }
}
