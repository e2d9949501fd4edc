//! Logic with three values: true, false, and unknown (`None`), as SQL has it.

/// `None`: unknown.
pub(crate) type Truth = Option<bool>;

pub(crate) fn not(truth: Truth) -> Truth {
    truth.map(|value| !value)
}

/// All of them. False as soon as one is; the others are not asked then.
pub(crate) fn all(truths: impl Iterator<Item = Truth>) -> Truth {
    let mut all = Some(true);
    for truth in truths {
        match truth {
            Some(false) => return truth,
            Some(true) => {}
            None => all = None,
        }
    }
    all
}

/// At least one of them. True as soon as one is; the others are not asked then.
pub(crate) fn any(truths: impl Iterator<Item = Truth>) -> Truth {
    not(all(truths.map(not)))
}
