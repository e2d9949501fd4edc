//! Which name did the user mean?

use super::EntityType;

/// Names of very old versions that are not accepted any more, and what they are called now.
const GONE: &[(&str, &str)] = &[
    ("addr", "host"),
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
    nearest(name, super::entity_types().iter().filter(|ty| !ty.is_abstract).map(|ty| ty.section))
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

/// How many characters have to be inserted, removed or replaced to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
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
    fn a_name_in_the_wrong_case_is_recognised() {
        assert_eq!(attribute(&LISTENER, "saslmechanisms"), Some("saslMechanisms"));
    }

    #[test]
    fn a_name_of_a_very_old_version_leads_to_the_present_one() {
        assert_eq!(attribute(&LISTENER, "addr"), Some("host"));
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
