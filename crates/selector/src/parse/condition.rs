//! OR, AND, NOT, and comparisons of all kinds.

use super::token::{Keyword, Token};
use super::{Expression, Parser, Placed};
use crate::error::Complaint;
use crate::expression::{Comparison, Condition, Term};
use crate::like::Pattern;
use crate::literal::Literal;

impl Parser<'_> {
    /// A condition or a term, whichever it is.
    pub(super) fn either(&mut self) -> Result<Placed, Complaint> {
        self.chain(Keyword::Or, Condition::Or, |parser| parser.chain(Keyword::And, Condition::And, Self::negation))
    }

    /// Parts joined by one keyword. A part alone stays what it is.
    fn chain(
        &mut self,
        keyword: Keyword,
        join: fn(Vec<Condition>) -> Condition,
        mut part: impl FnMut(&mut Self) -> Result<Placed, Complaint>,
    ) -> Result<Placed, Complaint> {
        let first = part(self)?;
        if *self.tokens.peek() != Token::Keyword(keyword) {
            return Ok(first);
        }
        let offset = first.offset;
        let mut parts = vec![first.condition()?];
        while self.tokens.take_keyword(keyword)? {
            parts.push(part(self)?.condition()?);
        }
        Ok(Placed::new(offset, Expression::Condition(join(parts))))
    }

    fn negation(&mut self) -> Result<Placed, Complaint> {
        let offset = self.tokens.offset();
        if !self.tokens.take_keyword(Keyword::Not)? {
            return self.comparison();
        }
        let inner = self.deeper(Self::negation)?.condition()?;
        Ok(Placed::new(offset, Expression::Condition(Condition::Not(Box::new(inner)))))
    }

    fn comparison(&mut self) -> Result<Placed, Complaint> {
        let left = self.sum()?;
        let offset = left.offset;
        let condition = match *self.tokens.peek() {
            Token::Comparison(comparison) => {
                self.tokens.take()?;
                let right = self.sum()?;
                check(&left, comparison, &right)?;
                Condition::Compare(comparison, Box::new((left.term(), right.term())))
            }
            Token::Keyword(Keyword::Is) => self.is_null(left)?,
            Token::Keyword(Keyword::Not | Keyword::Between | Keyword::In | Keyword::Like) => self.membership(left)?,
            _ => return Ok(left),
        };
        if matches!(self.tokens.peek(), Token::Comparison(_)) {
            return Err(self.complain(
                "AND, OR or the end",
                "compare two values at a time: write a < b AND b < c for a < b < c, and put a condition that is \
                 compared into parentheses",
            ));
        }
        Ok(Placed::new(offset, Expression::Condition(condition)))
    }

    fn is_null(&mut self, value: Placed) -> Result<Condition, Complaint> {
        self.tokens.take()?;
        let negated = self.tokens.take_keyword(Keyword::Not)?;
        if !self.tokens.take_keyword(Keyword::Null)? {
            let expected = if negated { "NULL" } else { "NULL or NOT NULL" };
            return Err(self.complain(expected, "write IS NULL or IS NOT NULL; for other values use `=`"));
        }
        Ok(Condition::IsNull { value: value.term(), negated })
    }

    /// BETWEEN, IN and LIKE, with NOT before them or without.
    fn membership(&mut self, value: Placed) -> Result<Condition, Complaint> {
        let negated = self.tokens.take_keyword(Keyword::Not)?;
        if self.tokens.take_keyword(Keyword::Between)? {
            return self.between(value, negated);
        }
        if self.tokens.take_keyword(Keyword::In)? {
            return Ok(Condition::In { value: value.term(), list: self.list()?, negated });
        }
        if self.tokens.take_keyword(Keyword::Like)? {
            return Ok(Condition::Like { value: value.term(), pattern: self.pattern()?, negated });
        }
        Err(self.complain("BETWEEN, IN or LIKE", "to negate a whole condition, write NOT in front of it"))
    }

    fn between(&mut self, value: Placed, negated: bool) -> Result<Condition, Complaint> {
        let low = self.sum()?;
        if !self.tokens.take_keyword(Keyword::And)? {
            return Err(self.complain("AND, and the upper bound", "write BETWEEN lower AND upper"));
        }
        let high = self.sum()?;
        for bound in [&value, &low, &high] {
            ordered(bound)?;
        }
        Ok(Condition::Between { terms: Box::new((value.term(), low.term(), high.term())), negated })
    }

    fn list(&mut self) -> Result<Vec<Literal>, Complaint> {
        const REMEDY: &str = "write IN ('one', 'two')";
        if !self.tokens.take_if(&Token::Open)? {
            return Err(self.complain("`(`, and a list of values", REMEDY));
        }
        let mut list = Vec::new();
        loop {
            let offset = self.tokens.offset();
            match self.unary()?.expression {
                Expression::Term(Term::Literal(literal)) => list.push(literal),
                _ => {
                    let remedy = "only texts, numbers, TRUE and FALSE can stand in the list; join comparisons by OR";
                    return Err(Complaint::new(offset, "a text, a number, TRUE or FALSE", remedy));
                }
            }
            if self.tokens.take_if(&Token::Close)? {
                return Ok(list);
            }
            if !self.tokens.take_if(&Token::Comma)? {
                return Err(self.complain("`,` or `)`", REMEDY));
            }
        }
    }

    fn pattern(&mut self) -> Result<Pattern, Complaint> {
        const REMEDY: &str = "write LIKE 'a%'; `%` stands for any characters, `_` for one";
        let offset = self.tokens.offset();
        let Token::Text(text) = self.tokens.peek().clone() else {
            return Err(self.complain("a pattern in single quotes", REMEDY));
        };
        self.tokens.take()?;
        let mut escape = None;
        if self.tokens.take_keyword(Keyword::Escape)? {
            let mut only = None;
            if let Token::Text(text) = self.tokens.peek() {
                let mut chars = text.chars();
                only = chars.next().filter(|_| chars.next().is_none());
            }
            if only.is_none() {
                return Err(self.complain("one character in single quotes", "write ESCAPE '\\', or another character"));
            }
            self.tokens.take()?;
            escape = only;
        }
        Pattern::new(&text, escape, offset)
    }
}

/// Conditions are equal or not, but none is less than another.
fn check(left: &Placed, comparison: Comparison, right: &Placed) -> Result<(), Complaint> {
    match comparison {
        Comparison::Equal | Comparison::Unequal => Ok(()),
        _ => ordered(left).and_then(|()| ordered(right)),
    }
}

fn ordered(side: &Placed) -> Result<(), Complaint> {
    match &side.expression {
        Expression::Condition(_) | Expression::Term(Term::Truth(_) | Term::Literal(Literal::Bool(_))) => {
            let remedy = "compare conditions, TRUE and FALSE with `=` or `<>`";
            Err(Complaint::new(side.offset, "a number or a text", remedy))
        }
        Expression::Term(_) => Ok(()),
    }
}
