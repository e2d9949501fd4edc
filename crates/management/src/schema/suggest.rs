//! Which name did the user mean?

use super::EntityType;

/// Names of very old versions that are not accepted any more, and what they are called now.
const GONE: &[(&str, &str)] = &[
    ("requirePeerAuth", "authenticatePeer"),
    ("allowNoSasl", "authenticatePeer"),
    ("routerId", "id"),
    ("router-id", "id"),
    ("level", "enable"),
];

/// The attribute whose name comes nearest to one that does not exist.
pub fn attribute(ty: &'static EntityType, name: &str) -> Option<&'static str> {
    let gone = GONE.iter().find(|(old, _)| *old == name).and_then(|(_, new)| ty.attribute(new));
    gone.map(|attribute| attribute.name).or_else(|| nearest(name, ty.all_attributes().map(|it| it.name)))
}

/// The section whose name comes nearest to one that does not exist.
pub fn section(name: &str) -> Option<&'static str> {
    nearest(name, super::sections().filter(|ty| !ty.is_abstract).map(|ty| ty.section))
}

/// The nearest of the words of a choice.
pub(super) fn word(name: &str, words: &'static [&'static str]) -> Option<&'static str> {
    nearest(name, words.iter().copied())
}

/// The nearest of some words, if it is near enough to be meant.
fn nearest(name: &str, words: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    // Nobody means a word by a text that is much longer; this also bounds the work.
    if name.len() > 64 {
        return None;
    }
    let allowed = (name.chars().count() / 3).max(1);
    let measured = words.map(|word| (distance(&name.to_lowercase(), &word.to_lowercase()), word));
    measured.filter(|(distance, _)| *distance <= allowed).min_by_key(|(distance, _)| *distance).map(|(_, word)| word)
}

/// How many characters have to be inserted, removed, replaced or swapped with their neighbour to make one word of the
/// other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::LISTENER;

    #[test]
    fn a_misspelt_attribute_is_recognised() {
        assert_eq!(attribute(&LISTENER, "autenticatePeer"), Some("authenticatePeer"));
    }

    #[test]
    fn letters_that_changed_places_are_recognised() {
        assert_eq!(attribute(&LISTENER, "prot"), Some("port"));
    }

    #[test]
    fn a_name_in_the_wrong_case_is_recognised() {
        assert_eq!(attribute(&LISTENER, "saslmechanisms"), Some("saslMechanisms"));
    }

    #[test]
    fn a_name_of_a_very_old_version_leads_to_the_present_one() {
        assert_eq!(attribute(&LISTENER, "allowNoSasl"), Some("authenticatePeer"));
    }

    #[test]
    fn a_name_like_no_other_leads_nowhere() {
        assert_eq!(attribute(&LISTENER, "colour"), None);
    }

    #[test]
    fn a_misspelt_section_is_recognised() {
        assert_eq!(section("listner"), Some("listener"));
    }
}
