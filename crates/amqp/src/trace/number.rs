//! Floating-point numbers as C's `%g` prints them, which the old router does.

use std::fmt::Write as _;

/// Significant digits.
const PRECISION: i32 = 6;

/// Appends the number: at most six significant digits, with an exponent where it is below -4 or beyond the digits.
pub(super) fn general(out: &mut String, number: f64) {
    if !number.is_finite() {
        out.push_str(match (number.is_nan(), number.is_sign_negative()) {
            (true, false) => "nan",
            (true, true) => "-nan",
            (false, false) => "inf",
            (false, true) => "-inf",
        });
        return;
    }
    // The exponent of the number as rounded, which is what decides between the two forms.
    let scientific = format!("{number:.*e}", (PRECISION - 1) as usize);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    // Writing to a string cannot fail.
    let _ = if (-4..PRECISION).contains(&exponent) {
        let fixed = format!("{number:.*}", usize::try_from(PRECISION - 1 - exponent).unwrap_or(0));
        write!(out, "{}", without_trailing_zeros(&fixed))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(out, "{}e{sign}{:02}", without_trailing_zeros(mantissa), exponent.abs())
    };
}

fn without_trailing_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    fn text(number: f64) -> String {
        let mut out = String::new();
        super::general(&mut out, number);
        out
    }

    #[test]
    fn prints_as_the_old_router_does() {
        let numbers = [1.5, 0.1, 2.25, 3.0, 0.0, -0.0, 1e300, 123_456_789.123, 0.0001, 0.00001, 999_999.5, 100_000.0];
        let texts =
            ["1.5", "0.1", "2.25", "3", "0", "-0", "1e+300", "1.23457e+08", "0.0001", "1e-05", "1e+06", "100000"];
        assert_eq!(numbers.map(text), texts);
        assert_eq!(text(f64::from(0.1_f32)), "0.1");
    }

    #[test]
    fn prints_what_is_not_a_number() {
        assert_eq!([f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(text), ["nan", "inf", "-inf"]);
    }
}
