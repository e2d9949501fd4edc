//! Expressions as they are evaluated: chains of one operator are one node, so that only parentheses make depth.

use crate::fields::Field;
use crate::like::Pattern;
use crate::literal::Literal;

/// What is true, false or unknown.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Constant(bool),
    /// A field whose value is a boolean.
    Field(Field),
    Not(Box<Self>),
    And(Vec<Self>),
    Or(Vec<Self>),
    Compare(Comparison, Box<(Term, Term)>),
    Between {
        /// Value, lower bound, upper bound.
        terms: Box<(Term, Term, Term)>,
        negated: bool,
    },
    In {
        value: Term,
        list: Vec<Literal>,
        negated: bool,
    },
    Like {
        value: Term,
        pattern: Pattern,
        negated: bool,
    },
    IsNull {
        value: Term,
        negated: bool,
    },
}

/// What has a value.
#[derive(Clone, Debug)]
pub(crate) enum Term {
    Literal(Literal),
    Field(Field),
    /// A condition in parentheses, as one side of a comparison.
    Truth(Box<Condition>),
    /// With its sign turned.
    Negative(Box<Self>),
    /// The first operand, and what is done with the others in turn.
    Chain(Box<Self>, Vec<(Operation, Self)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
}
