//! Numbers as Python reads them from text.

use std::time::Duration;

/// What `int(text)` gives: blanks around and single underscores inside are allowed.
///
/// # Errors
/// Python's words, with the text in its quotes.
pub fn int(text: &str) -> Result<i64, String> {
    let wrong = || format!("invalid literal for int() with base 10: {}", management::repr::repr(&text.into()));
    let trimmed = text.trim();
    if trimmed.starts_with('_') || trimmed.ends_with('_') || trimmed.contains("__") {
        return Err(wrong());
    }
    trimmed.replace('_', "").parse().map_err(|_| wrong())
}

/// A number of seconds as a duration; what is negative or not a number is `None`.
pub fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    // The bound keeps the sum of this and any point in time within what the clock can express.
    (seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(1e9)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_signs_and_underscores_are_read() {
        assert_eq!(int(" +1_000 "), Ok(1000));
        assert_eq!(int("-7"), Ok(-7));
    }

    #[test]
    fn what_is_not_a_number_is_named() {
        assert_eq!(int("0x10"), Err("invalid literal for int() with base 10: '0x10'".to_owned()));
        assert_eq!(int("1__0"), Err("invalid literal for int() with base 10: '1__0'".to_owned()));
    }

    #[test]
    fn seconds_may_have_a_fraction_but_no_sign() {
        assert_eq!(seconds("2.5"), Some(Duration::from_millis(2500)));
        assert_eq!(seconds("inf"), Some(Duration::from_secs(1_000_000_000)));
        assert_eq!(seconds("-1"), None);
        assert_eq!(seconds("x"), None);
    }
}
