//! Arithmetic, literals and names.

use super::token::{Keyword, Token};
use super::{Expression, Parser, Placed};
use crate::error::Complaint;
use crate::expression::{Operation, Term};
use crate::literal::Literal;

impl Parser<'_> {
    pub(super) fn sum(&mut self) -> Result<Placed, Complaint> {
        self.operations(Self::product, |token| match token {
            Token::Sum(operation) => Some(*operation),
            _ => None,
        })
    }

    fn product(&mut self) -> Result<Placed, Complaint> {
        self.operations(Self::unary, |token| match token {
            Token::Product(operation) => Some(*operation),
            _ => None,
        })
    }

    /// Operands joined by operators of one rank. An operand alone stays what it is.
    fn operations(
        &mut self,
        operand: fn(&mut Self) -> Result<Placed, Complaint>,
        operator: fn(&Token<'_>) -> Option<Operation>,
    ) -> Result<Placed, Complaint> {
        let first = operand(self)?;
        if operator(self.tokens.peek()).is_none() {
            return Ok(first);
        }
        let offset = first.offset;
        let first = first.number()?;
        let mut rest = Vec::new();
        while let Some(operation) = operator(self.tokens.peek()) {
            self.tokens.take()?;
            rest.push((operation, operand(self)?.number()?));
        }
        Ok(Placed::new(offset, Expression::Term(Term::Chain(Box::new(first), rest))))
    }

    pub(super) fn unary(&mut self) -> Result<Placed, Complaint> {
        let offset = self.tokens.offset();
        let Token::Sum(sign) = *self.tokens.peek() else { return self.primary() };
        self.tokens.take()?;
        let inner = self.deeper(Self::unary)?.number()?;
        let term = match (sign, inner) {
            (Operation::Subtract, Term::Literal(Literal::Int(number))) => Term::Literal(Literal::Int(-number)),
            (Operation::Subtract, Term::Literal(Literal::Float(number))) => Term::Literal(Literal::Float(-number)),
            (Operation::Subtract, inner) => Term::Negative(Box::new(inner)),
            // A field that is no number has no value with a sign either: twice turned it is the same, or unknown.
            (_, inner @ Term::Field(_)) => Term::Negative(Box::new(Term::Negative(Box::new(inner)))),
            (_, inner) => inner,
        };
        Ok(Placed::new(offset, Expression::Term(term)))
    }

    fn primary(&mut self) -> Result<Placed, Complaint> {
        const EXPECTED: &str = "a name, a value or `(`";
        let offset = self.tokens.offset();
        let term = match self.tokens.peek().clone() {
            Token::Open => return self.parenthesised(),
            Token::Name(name) => Term::Field(self.field(name)?),
            Token::Quoted(name) => Term::Field(self.field(&name)?),
            Token::Text(text) => Term::Literal(Literal::Text(text.into())),
            Token::Number(number) => Term::Literal(number),
            Token::Keyword(Keyword::True) => Term::Literal(Literal::Bool(true)),
            Token::Keyword(Keyword::False) => Term::Literal(Literal::Bool(false)),
            Token::Keyword(Keyword::Null) => return Err(self.complain(EXPECTED, "write IS NULL or IS NOT NULL")),
            Token::Keyword(Keyword::Not) => {
                return Err(self.complain(EXPECTED, "put a condition that is compared into parentheses"));
            }
            Token::Keyword(_) => {
                return Err(self.complain(EXPECTED, "put a property that is called like this into double quotes"));
            }
            Token::End => return Err(self.complain(EXPECTED, "complete the expression")),
            _ => return Err(self.complain(EXPECTED, "write what is to be compared")),
        };
        self.tokens.take()?;
        Ok(Placed::new(offset, Expression::Term(term)))
    }

    fn parenthesised(&mut self) -> Result<Placed, Complaint> {
        let offset = self.tokens.offset();
        self.tokens.take()?;
        let inner = self.deeper(Self::either)?;
        if !self.tokens.take_if(&Token::Close)? {
            let remedy = "close the parenthesis, or join conditions with AND or OR";
            return Err(self.complain("`)`, AND or OR", remedy));
        }
        Ok(Placed::new(offset, inner.expression))
    }
}
