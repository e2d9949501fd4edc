//! Evaluation.

use crate::expression::{Comparison, Condition, Term};
use crate::logic::{Truth, all, any, not};
use crate::operand::Operand;
use crate::view::View;
use crate::{Context, Selector};

/// Steps that one evaluation may take in comparing texts and fitting patterns, so that nobody's selector on nobody's
/// message takes more than milliseconds. What is not decided by then does not match.
const STEPS: u32 = 1 << 20;

/// Bytes that are compared in one step.
const BYTES: usize = 64;

pub(crate) fn matches(selector: &Selector, message: &[u8], context: &Context) -> bool {
    match View::new(selector, message, context) {
        Ok(view) => {
            let mut evaluation = Evaluation { view, steps: STEPS };
            evaluation.condition(&selector.condition) == Some(true) && evaluation.steps > 0
        }
        Err(_) => false,
    }
}

struct Evaluation<'a> {
    view: View<'a>,
    /// How many are left. None: whatever comes is unknown.
    steps: u32,
}

impl<'a> Evaluation<'a> {
    fn condition(&mut self, condition: &'a Condition) -> Truth {
        match condition {
            Condition::Constant(value) => Some(*value),
            Condition::Field(field) => self.view.value(*field).truth(),
            Condition::Not(inner) => not(self.condition(inner)),
            Condition::And(parts) => all(parts.iter().map(|part| self.condition(part))),
            Condition::Or(parts) => any(parts.iter().map(|part| self.condition(part))),
            Condition::Compare(comparison, terms) => {
                let (left, right) = (self.term(&terms.0), self.term(&terms.1));
                self.compare(&left, *comparison, &right)
            }
            Condition::Between { terms, negated } => {
                let (value, low, high) = (self.term(&terms.0), self.term(&terms.1), self.term(&terms.2));
                self.between(&value, &low, &high, *negated)
            }
            Condition::In { value, list, negated } => {
                let value = self.term(value);
                let found = any(list.iter().map(|one| self.compare(&value, Comparison::Equal, &one.operand())));
                if *negated { not(found) } else { found }
            }
            Condition::Like { value, pattern, negated } => {
                let fits = match self.term(value) {
                    Operand::Unknown => None,
                    value => value.text().map_or(Some(false), |text| {
                        let fits = pattern.fits(text, &mut self.steps);
                        if fits.is_none() {
                            self.steps = 0;
                        }
                        fits
                    }),
                };
                if *negated { not(fits) } else { fits }
            }
            Condition::IsNull { value, negated } => Some(self.term(value).is_unknown() != *negated),
        }
    }

    /// `value >= low AND value <= high`, or `value < low OR value > high`.
    fn between(&mut self, value: &Operand<'a>, low: &Operand<'a>, high: &Operand<'a>, negated: bool) -> Truth {
        if negated {
            let below = self.compare(value, Comparison::Less, low);
            any([below, self.compare(value, Comparison::Greater, high)].into_iter())
        } else {
            let above = self.compare(value, Comparison::GreaterOrEqual, low);
            all([above, self.compare(value, Comparison::LessOrEqual, high)].into_iter())
        }
    }

    fn compare(&mut self, left: &Operand<'_>, comparison: Comparison, right: &Operand<'_>) -> Truth {
        let bytes = |operand: &Operand<'_>| operand.text().map_or(0, str::len);
        let steps = 1 + bytes(left).min(bytes(right)) / BYTES;
        self.steps = self.steps.saturating_sub(u32::try_from(steps).unwrap_or(u32::MAX));
        if self.steps == 0 { None } else { left.compare(comparison, right) }
    }

    fn term(&mut self, term: &'a Term) -> Operand<'a> {
        match term {
            Term::Literal(literal) => literal.operand(),
            Term::Field(field) => self.view.value(*field),
            Term::Truth(condition) => self.condition(condition).map_or(Operand::Unknown, Operand::Bool),
            Term::Negative(inner) => self.term(inner).negative(),
            Term::Chain(first, rest) => {
                let first = self.term(first);
                rest.iter().fold(first, |value, (operation, next)| value.calculate(*operation, self.term(next)))
            }
        }
    }
}
