//! Values written in the text of a selector.

use crate::operand::Operand;

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(Box<str>),
}

impl Literal {
    pub(crate) fn operand(&self) -> Operand<'_> {
        match self {
            Self::Bool(value) => Operand::Bool(*value),
            Self::Int(value) => Operand::Int(*value),
            Self::Float(value) => Operand::Float(*value),
            Self::Text(text) => Operand::Text(text),
        }
    }
}

/// Why the characters of a number are none: what is wrong, and what to write.
pub(crate) type BadNumber = (&'static str, String);

/// A number as Java writes it: decimal, hexadecimal (`0x1F`), octal (`017`), binary (`0b11`), with the suffix `L`; or with
/// a point or an exponent, with the suffix `f` or `d`.
pub(crate) fn number(text: &str) -> Result<Literal, BadNumber> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.strip_suffix('l').unwrap_or(&lower);
    if let Some(hex) = digits.strip_prefix("0x") {
        return integer(hex, 16, text);
    }
    if let Some(binary) = digits.strip_prefix("0b") {
        return integer(binary, 2, text);
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return match digits.strip_prefix('0') {
            Some(octal) if !octal.is_empty() => integer(octal, 8, text),
            _ => integer(digits, 10, text),
        };
    }
    let plain = lower.strip_suffix(['f', 'd']).unwrap_or(&lower);
    let usual = plain.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'+' | b'-'));
    match plain.parse::<f64>() {
        Ok(number) if usual && number.is_finite() => Ok(Literal::Float(number)),
        Ok(_) if usual => Err(("a number that a double can hold", "write a smaller number".to_owned())),
        _ => Err(("a number", "write it like 42, 1.5, 6.02E23 or 0x1F; put text into single quotes".to_owned())),
    }
}

fn integer(digits: &str, radix: u32, text: &str) -> Result<Literal, BadNumber> {
    if let Some(odd) = digits.chars().find(|digit| !digit.is_digit(radix)) {
        return Err(match radix {
            8 => ("an octal number, for it begins with 0", format!("write {} without the 0 in front", tidy(text))),
            _ => ("a number", format!("leave out `{odd}`, or put text into single quotes")),
        });
    }
    match i128::from_str_radix(digits, radix) {
        Ok(number) if number <= i128::from(u64::MAX) => Ok(Literal::Int(number)),
        _ if digits.is_empty() => Err(("digits", format!("write digits behind `{text}`"))),
        _ => Err(("a number of at most 64 bits", format!("write it as an approximate number, such as {text}.0"))),
    }
}

fn tidy(text: &str) -> &str {
    text.trim_start_matches('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_in_java() {
        for (text, value) in [
            ("0", 0),
            ("42", 42),
            ("42L", 42),
            ("0x1F", 31),
            ("0XFFl", 255),
            ("017", 15),
            ("0b101", 5),
            ("18446744073709551615", i128::from(u64::MAX)),
        ] {
            assert_eq!(number(text), Ok(Literal::Int(value)), "{text}");
        }
        for (text, value) in
            [("1.5", 1.5), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0), ("2.5E-1", 0.25), ("1f", 1.0), ("1.5D", 1.5)]
        {
            assert_eq!(number(text), Ok(Literal::Float(value)), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_told_with_what_to_write() {
        for (text, remedy) in [
            ("089", "without the 0"),
            ("0x", "digits behind"),
            ("0xG", "leave out `g`"),
            ("18446744073709551616", "18446744073709551616.0"),
            ("1e999", "smaller"),
            ("5abc", "single quotes"),
            ("1e", "write it like"),
        ] {
            let (_, told) = number(text).expect_err(text);
            assert!(told.contains(remedy), "{text}: {told}");
        }
    }
}
