//! Numbers and texts for people.

/// A text of any number of lines, as [`logging::escaped`] has each of them: it commands no terminal.
pub fn escaped_lines(text: &str) -> String {
    text.split('\n').map(logging::escaped).collect::<Vec<_>>().join("\n")
}

/// A number rounded to a whole one, with commas between thousands.
pub fn grouped(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let mut out = String::from(if number < 0.0 && digits != "0" { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Microseconds in the unit that suits them, with three digits.
pub fn duration(micros: f64) -> String {
    let (number, unit) = match micros {
        n if n < 1000.0 => (n, "us"),
        n if n < 1_000_000.0 => (n / 1000.0, "ms"),
        n => (n / 1_000_000.0, "s"),
    };
    let decimals = if number < 10.0 {
        2
    } else if number < 100.0 {
        1
    } else {
        0
    };
    format!("{number:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        assert_eq!([0.4, 999.6, 1_234_567.0, -1000.0].map(grouped), ["0", "1,000", "1,234,567", "-1,000"]);
    }

    #[test]
    fn times_have_three_digits() {
        let times = [0.0, 12.34, 999.0, 1500.0, 2_500_000.0].map(duration);
        assert_eq!(times, ["0.00 us", "12.3 us", "999 us", "1.50 ms", "2.50 s"]);
    }
}
