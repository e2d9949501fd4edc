//! From text to expression.

mod condition;
mod names;
mod term;
mod token;

use crate::error::{Complaint, ParseError};
use crate::expression::{Condition, Term};
use crate::fields::Names;
use crate::literal::Literal;
use crate::{MAX_DEPTH, MAX_LENGTH, Selector};
use token::{Token, Tokens};

/// What was read: `a` may be either, until it is known where it stands.
enum Expression {
    Condition(Condition),
    Term(Term),
}

/// An expression and where it begins.
struct Placed {
    offset: usize,
    expression: Expression,
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    application: Names,
    annotations: Names,
    depth: usize,
}

pub(crate) fn selector(text: &str) -> Result<Selector, ParseError> {
    if text.len() > MAX_LENGTH {
        let complaint = Complaint::new(0, format!("a text of at most {MAX_LENGTH} bytes"), "write a shorter selector");
        return Err(complaint.found(format!("{} bytes", text.len())).at(text));
    }
    let mut parser = Parser {
        tokens: Tokens::new(text).map_err(|complaint| complaint.at(text))?,
        application: Names::default(),
        annotations: Names::default(),
        depth: 0,
    };
    let condition = parser.whole().map_err(|complaint| complaint.at(text))?;
    Ok(Selector { text: text.into(), condition, application: parser.application, annotations: parser.annotations })
}

impl Parser<'_> {
    fn whole(&mut self) -> Result<Condition, Complaint> {
        if *self.tokens.peek() == Token::End {
            return Ok(Condition::Constant(true));
        }
        let condition = self.either()?.condition()?;
        match self.tokens.peek() {
            Token::End => Ok(condition),
            Token::Close => Err(self.complain("the end", "leave out this `)`, or write the `(` that it closes")),
            Token::Text(_) | Token::Number(_) | Token::Name(_) | Token::Quoted(_) => {
                Err(self.complain("AND, OR or the end", "join conditions with AND or OR; put text into single quotes"))
            }
            _ => {
                Err(self
                    .complain("AND, OR or the end", "join conditions with AND or OR, and put parts into parentheses"))
            }
        }
    }

    fn complain(&self, expected: &str, remedy: &str) -> Complaint {
        Complaint::new(self.tokens.offset(), expected, remedy)
    }

    /// Goes one level deeper for as long as `parse` takes.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, Complaint>) -> Result<T, Complaint> {
        if self.depth >= MAX_DEPTH {
            return Err(self.complain(
                &format!("at most {MAX_DEPTH} levels of parentheses, NOT and signs"),
                "write it with fewer levels",
            ));
        }
        self.depth += 1;
        let parsed = parse(self)?;
        self.depth -= 1;
        Ok(parsed)
    }
}

impl Placed {
    fn new(offset: usize, expression: Expression) -> Self {
        Self { offset, expression }
    }

    /// As something that is true or not.
    fn condition(self) -> Result<Condition, Complaint> {
        let wanted = "a condition, which is true or false";
        let (found, remedy) = match self.expression {
            Expression::Condition(condition) => return Ok(condition),
            Expression::Term(Term::Field(field)) => return Ok(Condition::Field(field)),
            Expression::Term(Term::Literal(Literal::Bool(value))) => return Ok(Condition::Constant(value)),
            Expression::Term(Term::Truth(condition)) => return Ok(*condition),
            Expression::Term(Term::Literal(Literal::Text(_))) => {
                ("a text", "compare it with something, such as name = 'text'")
            }
            Expression::Term(_) => ("a number", "compare it with something, such as name > 5"),
        };
        Err(Complaint::new(self.offset, wanted, remedy).found(found))
    }

    /// As something that has a value.
    fn term(self) -> Term {
        match self.expression {
            Expression::Condition(condition) => Term::Truth(Box::new(condition)),
            Expression::Term(term) => term,
        }
    }

    /// As something to calculate with.
    fn number(self) -> Result<Term, Complaint> {
        let found = match &self.expression {
            Expression::Condition(_) | Expression::Term(Term::Truth(_) | Term::Literal(Literal::Bool(_))) => {
                "a condition"
            }
            Expression::Term(Term::Literal(Literal::Text(_))) => "a text",
            Expression::Term(_) => return Ok(self.term()),
        };
        let remedy = "only numbers can be calculated with; for the number 5 write 5, not '5'";
        Err(Complaint::new(self.offset, "a number", remedy).found(found))
    }
}
