//! Floating-point numbers as Python writes them.

/// The shortest text that reads back as this number: positional between 1e-4 and 1e16, with an exponent otherwise, and
/// always recognisable as a float (`1.0`).
pub(super) fn float(number: f64) -> String {
    if !number.is_finite() {
        return if number.is_nan() { "nan".to_owned() } else { if number > 0.0 { "inf" } else { "-inf" }.to_owned() };
    }
    // Rust's exponent form has the shortest digits too, as `1.25e-7`; Python writes the exponent signed, two digits wide.
    let shortest = format!("{number:e}");
    let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let text = number.to_string();
        return if text.contains('.') { text } else { text + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::float;

    #[test]
    fn whole_numbers_keep_a_fraction() {
        assert_eq!(float(3.0), "3.0");
        assert_eq!(float(-0.0), "-0.0");
    }

    #[test]
    fn exponents_are_signed_and_two_digits_wide() {
        assert_eq!(float(1e16), "1e+16");
        assert_eq!(float(1.25e-7), "1.25e-07");
        assert_eq!(float(1e15), "1000000000000000.0");
        assert_eq!(float(0.0001), "0.0001");
    }

    #[test]
    fn what_is_not_finite_has_pythons_names() {
        assert_eq!(float(f64::NAN), "nan");
        assert_eq!(float(f64::NEG_INFINITY), "-inf");
    }
}
