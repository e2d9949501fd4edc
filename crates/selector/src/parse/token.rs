//! The words of a selector, one ahead.

use crate::error::Complaint;
use crate::expression::{Comparison, Operation};
use crate::literal::{self, Literal};
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A word that is no keyword.
    Name(&'a str),
    /// A name in double quotes.
    Quoted(Cow<'a, str>),
    Keyword(Keyword),
    Text(Cow<'a, str>),
    Number(Literal),
    Comparison(Comparison),
    Sum(Operation),
    Product(Operation),
    Open,
    Close,
    Comma,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    And,
    Between,
    Escape,
    False,
    In,
    Is,
    Like,
    Not,
    Null,
    Or,
    True,
}

const KEYWORDS: &[(&str, Keyword)] = &[
    ("AND", Keyword::And),
    ("BETWEEN", Keyword::Between),
    ("ESCAPE", Keyword::Escape),
    ("FALSE", Keyword::False),
    ("IN", Keyword::In),
    ("IS", Keyword::Is),
    ("LIKE", Keyword::Like),
    ("NOT", Keyword::Not),
    ("NULL", Keyword::Null),
    ("OR", Keyword::Or),
    ("TRUE", Keyword::True),
];

/// Reads a text word by word.
pub(super) struct Tokens<'a> {
    text: &'a str,
    /// What comes next, and where it begins.
    next: Token<'a>,
    offset: usize,
    /// Where to go on reading.
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Result<Self, Complaint> {
        let mut tokens = Self { text, next: Token::End, offset: 0, at: 0 };
        tokens.take()?;
        Ok(tokens)
    }

    pub(super) fn peek(&self) -> &Token<'a> {
        &self.next
    }

    /// Where the next word begins.
    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    /// The next word; the one behind it is then next.
    pub(super) fn take(&mut self) -> Result<Token<'a>, Complaint> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        self.offset = self.at;
        let next = self.read()?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    /// Takes the next word if it is this one.
    pub(super) fn take_if(&mut self, token: &Token<'_>) -> Result<bool, Complaint> {
        let same = self.next == *token;
        if same {
            self.take()?;
        }
        Ok(same)
    }

    pub(super) fn take_keyword(&mut self, keyword: Keyword) -> Result<bool, Complaint> {
        self.take_if(&Token::Keyword(keyword))
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn read(&mut self) -> Result<Token<'a>, Complaint> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        let second = rest.chars().nth(1);
        let (token, length) = match (first, second) {
            ('\'', _) => return self.quoted('\'').map(Token::Text),
            ('"', _) => return self.quoted('"').map(Token::Quoted),
            ('0'..='9', _) | ('.', Some('0'..='9')) => return self.number(),
            (first, _) if starts_name(first) => return Ok(self.word()),
            ('<', Some('>')) => (Token::Comparison(Comparison::Unequal), 2),
            ('<', Some('=')) => (Token::Comparison(Comparison::LessOrEqual), 2),
            ('>', Some('=')) => (Token::Comparison(Comparison::GreaterOrEqual), 2),
            ('=', Some('=')) => return Err(self.odd("an operator", "write a single `=`")),
            ('!', Some('=')) => return Err(self.odd("an operator", "write `<>` for `!=`")),
            ('&', Some('&')) => return Err(self.odd("an operator", "write `AND` for `&&`")),
            ('|', Some('|')) => return Err(self.odd("an operator", "write `OR` for `||`")),
            ('!', _) => return Err(self.odd("an operator", "write `NOT` for `!`")),
            ('<', _) => (Token::Comparison(Comparison::Less), 1),
            ('>', _) => (Token::Comparison(Comparison::Greater), 1),
            ('=', _) => (Token::Comparison(Comparison::Equal), 1),
            ('+', _) => (Token::Sum(Operation::Add), 1),
            ('-', _) => (Token::Sum(Operation::Subtract), 1),
            ('*', _) => (Token::Product(Operation::Multiply), 1),
            ('/', _) => (Token::Product(Operation::Divide), 1),
            ('(', _) => (Token::Open, 1),
            (')', _) => (Token::Close, 1),
            (',', _) => (Token::Comma, 1),
            _ => {
                return Err(
                    self.odd("a name, a value or an operator", "leave it out, or put the name into double quotes")
                );
            }
        };
        self.at += length;
        Ok(token)
    }

    fn odd(&self, expected: &str, remedy: &str) -> Complaint {
        Complaint::new(self.at, expected, remedy)
    }

    fn word(&mut self) -> Token<'a> {
        let rest = self.rest();
        let end = rest.find(|char| !continues_name(char)).unwrap_or(rest.len());
        self.at += end;
        let word = rest.get(..end).unwrap_or_default();
        match KEYWORDS.iter().find(|(keyword, _)| keyword.eq_ignore_ascii_case(word)) {
            Some((_, keyword)) => Token::Keyword(*keyword),
            None => Token::Name(word),
        }
    }

    /// What stands between two quotes; two in a row stand for one.
    fn quoted(&mut self, quote: char) -> Result<Cow<'a, str>, Complaint> {
        let inner = self.rest().get(1..).unwrap_or_default();
        let mut from = 0;
        loop {
            let Some(found) = inner.get(from..).and_then(|rest| rest.find(quote)) else {
                return Err(Complaint::new(
                    self.text.len(),
                    format!("`{quote}`, which ends the text that begins at character {}", self.character()),
                    format!("close the quotes; inside a text write {quote}{quote} for {quote}"),
                ));
            };
            let end = from + found;
            from = end + 2;
            if inner.get(end + 1..).is_some_and(|behind| behind.starts_with(quote)) {
                continue;
            }
            self.at += 1 + end + 1;
            let text = inner.get(..end).unwrap_or_default();
            let doubled = [quote, quote].iter().collect::<String>();
            return Ok(match text.contains(quote) {
                true => Cow::Owned(text.replace(&doubled, quote.encode_utf8(&mut [0; 4]))),
                false => Cow::Borrowed(text),
            });
        }
    }

    /// Characters up to here, from 1.
    fn character(&self) -> usize {
        self.text.get(..self.at).unwrap_or_default().chars().count() + 1
    }

    fn number(&mut self) -> Result<Token<'a>, Complaint> {
        let rest = self.rest();
        let hex = rest.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("0x"));
        let mut before = ' ';
        let end = rest.find(|char: char| {
            let sign_of_exponent = matches!(char, '+' | '-') && matches!(before, 'e' | 'E') && !hex;
            before = char;
            !(char.is_ascii_alphanumeric() || matches!(char, '.' | '_') || sign_of_exponent)
        });
        let text = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        match literal::number(text) {
            Ok(number) => {
                self.at += text.len();
                Ok(Token::Number(number))
            }
            Err((expected, remedy)) => Err(Complaint::new(self.at, expected, remedy).found(format!("`{text}`"))),
        }
    }
}

fn starts_name(char: char) -> bool {
    char.is_alphabetic() || matches!(char, '_' | '$')
}

fn continues_name(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '$' | '.')
}
