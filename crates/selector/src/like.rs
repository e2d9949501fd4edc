//! The patterns of LIKE: `%` stands for any characters, `_` for one.

use crate::error::Complaint;

/// A pattern taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern(Vec<Piece>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    /// `%`. Never twice in a row.
    Any,
    /// `_`
    One,
    Char(char),
}

impl Pattern {
    /// Takes the pattern that stands at `offset` apart.
    pub(crate) fn new(text: &str, escape: Option<char>, offset: usize) -> Result<Self, Complaint> {
        let mut pieces = Vec::new();
        let mut chars = text.chars();
        while let Some(char) = chars.next() {
            let piece = match char {
                char if Some(char) == escape => Piece::Char(chars.next().ok_or_else(|| {
                    Complaint::new(offset, "a character behind the escape character that ends the pattern", {
                        format!("write `{char}{char}` for the character itself")
                    })
                })?),
                '%' => Piece::Any,
                '_' => Piece::One,
                char => Piece::Char(char),
            };
            if piece != Piece::Any || pieces.last() != Some(&Piece::Any) {
                pieces.push(piece);
            }
        }
        Ok(Self(pieces))
    }

    /// Whether the text fits, or `None` if that takes more than `steps`, of which those taken are subtracted.
    ///
    /// On a mismatch only the last `%` has to be tried with more: what lies before it has found its first place, and no
    /// later one gives what follows more room. So the steps are at most the product of both lengths.
    pub(crate) fn fits(&self, text: &str, steps: &mut u32) -> Option<bool> {
        let mut rest = text;
        let mut at = 0;
        let mut retry: Option<(usize, &str)> = None;
        loop {
            *steps = steps.checked_sub(1)?;
            let fits = match self.0.get(at) {
                Some(Piece::Any) => {
                    retry = Some((at + 1, rest));
                    at += 1;
                    continue;
                }
                Some(Piece::One) => next(rest).map(|(_, behind)| behind),
                Some(Piece::Char(wanted)) => next(rest).filter(|(char, _)| char == wanted).map(|(_, behind)| behind),
                None if rest.is_empty() => return Some(true),
                None => None,
            };
            if let Some(behind) = fits {
                rest = behind;
                at += 1;
                continue;
            }
            let Some((piece, (_, behind))) = retry.and_then(|(piece, from)| Some((piece, next(from)?))) else {
                return Some(false);
            };
            retry = Some((piece, behind));
            (at, rest) = (piece, behind);
        }
    }
}

/// The first character, and what is behind it.
fn next(text: &str) -> Option<(char, &str)> {
    let mut chars = text.chars();
    chars.next().map(|char| (char, chars.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, text: &str) -> Option<bool> {
        Pattern::new(pattern, Some('\\'), 0).expect("a pattern").fits(text, &mut 100_000)
    }

    #[test]
    fn a_pattern_fits_or_does_not() {
        for (pattern, yes, no) in [
            ("12%3", vec!["123", "12993", "1233"], vec!["1234", "13"]),
            ("l_se", vec!["lose", "löse"], vec!["loose", "lse"]),
            ("\\_%", vec!["_foo", "_"], vec!["bar", ""]),
            ("%", vec!["", "x"], vec![]),
            ("", vec![""], vec!["x"]),
            ("%a%b", vec!["ab", "xaybzb"], vec!["ba", "abx"]),
            ("__", vec!["ab"], vec!["a", "abc"]),
            ("%aab", vec!["aaab"], vec!["aaa"]),
        ] {
            for text in yes {
                assert_eq!(fits(pattern, text), Some(true), "{pattern} {text}");
            }
            for text in no {
                assert_eq!(fits(pattern, text), Some(false), "{pattern} {text}");
            }
        }
    }

    #[test]
    fn a_pattern_made_to_take_long_is_given_up() {
        let pattern = Pattern::new(&format!("%{}b", "a".repeat(5_000)), None, 0).expect("a pattern");
        assert_eq!(pattern.fits(&"a".repeat(20_000), &mut 1_000_000), None);
    }
}
