//! Values as the cells of a table show them.

use amqp::Value;
use management::Attributes;
use management::repr::plain as text;

/// An attribute as plain text; empty if it is not there.
pub(crate) fn plain(entity: &Attributes, name: &str) -> String {
    entity.get(name).map(text).unwrap_or_default()
}

/// As [`plain`], with a text of its own for what is not there.
pub(super) fn or(entity: &Attributes, name: &str, absent: &str) -> String {
    entity.get(name).map_or_else(|| absent.to_owned(), text)
}

/// A whole number with commas between thousands; anything else as plain text.
pub(crate) fn commas(entity: &Attributes, name: &str) -> String {
    match entity.get(name) {
        Some(value) => value.as_i64().map_or_else(|| text(value), grouped),
        None => String::new(),
    }
}

fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut out = String::from(if number < 0 { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number of bytes, in the largest unit that leaves a number of at least 1.
pub(super) fn size(bytes: u64) -> String {
    if bytes < 1024 {
        return bytes.to_string();
    }
    let mut units = ["KiB", "MiB", "GiB", "TiB", "PiB"].into_iter().peekable();
    // Sizes are shown with three digits at most: what gets lost in the conversion does not show.
    #[allow(clippy::cast_precision_loss, reason = "only three digits are shown")]
    let mut number = bytes as f64;
    loop {
        number /= 1024.0;
        let unit = units.next().unwrap_or("PiB");
        if number < 1024.0 || units.peek().is_none() {
            let decimals = if number < 10.0 {
                2
            } else if number < 100.0 {
                1
            } else {
                0
            };
            return format!("{number:.decimals$} {unit}");
        }
    }
}

/// An attribute in bytes, as [`size`] shows it; empty if it is not there.
pub(crate) fn size_of(entity: &Attributes, name: &str) -> String {
    entity.get(name).and_then(Value::as_u64).map(size).unwrap_or_default()
}

/// Seconds as days, hours, minutes and seconds: `DDD:HH:MM:SS`.
pub(super) fn days(seconds: i64) -> String {
    let seconds = seconds.max(0);
    format!("{:03}:{}", seconds / 86400, hours(seconds % 86400))
}

/// Seconds as `HH:MM:SS`.
pub(super) fn hours(seconds: i64) -> String {
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// A truth value as `yes` or `no`; empty if it is not there.
pub(super) fn yes_no(entity: &Attributes, name: &str) -> String {
    entity.boolean(name).map(|truth| if truth { "yes" } else { "no" }).unwrap_or_default().to_owned()
}

/// The sum of attributes; those that are not there count as 0. Empty if none is there.
pub(super) fn sum(entity: &Attributes, names: &[&str]) -> String {
    let found: Vec<i64> = names.iter().filter_map(|name| entity.integer(name)).collect();
    if found.is_empty() { String::new() } else { found.iter().fold(0_i64, |sum, n| sum.saturating_add(*n)).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_digits() {
        let sizes = [0, 1023, 1024, 1_713_373, 17_000_000, 185_745_408, 5 << 40, u64::MAX].map(size);
        assert_eq!(sizes, ["0", "1023", "1.00 KiB", "1.63 MiB", "16.2 MiB", "177 MiB", "5.00 TiB", "16384 PiB"]);
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!([0, 999, 1000, 2472, -1_234_567].map(grouped), ["0", "999", "1,000", "2,472", "-1,234,567"]);
    }

    #[test]
    fn durations_have_days_of_three_digits() {
        assert_eq!(days(90_061), "001:01:01:01");
        assert_eq!(days(86_400_000), "1000:00:00:00");
        assert_eq!(hours(7261), "02:01:01");
    }

    #[test]
    fn what_is_not_there_is_empty() {
        let entity = Attributes::new().with("there", 5_i32.into()).with("null", Value::Null);
        assert_eq!(plain(&entity, "null"), "");
        assert_eq!(commas(&entity, "nosuch"), "");
        assert_eq!(or(&entity, "null", "-"), "-");
        assert_eq!(sum(&entity, &["there", "nosuch"]), "5");
        assert_eq!(sum(&entity, &["nosuch"]), "");
    }
}
