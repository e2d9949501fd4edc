//! The selector against an evaluator of a few lines, on random expressions and messages.

use amqp::message::{Body, Message};
use amqp::{Map, Value};
use proptest::prelude::*;
use selector::Selector;
use std::collections::BTreeMap;

/// An expression, with parentheses around every part.
#[derive(Clone, Debug)]
enum Expr {
    Name(usize),
    Bool(bool),
    Int(i32),
    Half(i32),
    Text(String),
    Not(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Compare(&'static str, Box<Expr>, Box<Expr>),
    Calculate(char, Box<Expr>, Box<Expr>),
    Between(Box<Expr>, Box<Expr>, Box<Expr>, bool),
    In(Box<Expr>, Vec<String>, bool),
    Like(Box<Expr>, String, bool),
    IsNull(Box<Expr>, bool),
}

const NAMES: [&str; 6] = ["a", "b", "c", "JMSType", "with-hyphen", "m.x-note"];

#[derive(Clone, Debug, PartialEq)]
enum Plain {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
}

use Plain::{Float, Int, Null, Text};

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Expr {
    fn render(&self) -> String {
        let negated = |not: bool| if not { "NOT " } else { "" };
        match self {
            Self::Name(name) => format!("\"{}\"", NAMES[*name]),
            Self::Bool(value) => value.to_string(),
            Self::Int(number) => number.to_string(),
            Self::Half(number) => format!("({number}.5)"),
            Self::Text(text) => quote(text),
            Self::Not(inner) => format!("(NOT {})", inner.render()),
            Self::And(left, right) => format!("({} AND {})", left.render(), right.render()),
            Self::Or(left, right) => format!("({} or {})", left.render(), right.render()),
            Self::Compare(how, left, right) => format!("({} {how} {})", left.render(), right.render()),
            Self::Calculate(how, left, right) => format!("({} {how} {})", left.render(), right.render()),
            Self::Between(value, low, high, not) => {
                format!("({} {}BETWEEN {} AND {})", value.render(), negated(*not), low.render(), high.render())
            }
            Self::In(value, list, not) => {
                let list: Vec<_> = list.iter().map(|text| quote(text)).collect();
                format!("({} {}IN ({}))", value.render(), negated(*not), list.join(", "))
            }
            Self::Like(value, pattern, not) => {
                format!("({} {}LIKE {} ESCAPE '!')", value.render(), negated(*not), quote(pattern))
            }
            Self::IsNull(value, not) => format!("({} IS {}NULL)", value.render(), negated(*not)),
        }
    }

    fn value(&self, fields: &BTreeMap<&str, Plain>) -> Plain {
        match self {
            Self::Name(name) => fields.get(NAMES[*name]).cloned().unwrap_or(Null),
            Self::Bool(value) => Plain::Bool(*value),
            Self::Int(number) => Int((*number).into()),
            Self::Half(number) => Float(if *number < 0 { f64::from(*number) - 0.5 } else { f64::from(*number) + 0.5 }),
            Self::Text(text) => Text(text.clone()),
            Self::Calculate(how, left, right) => calculate(*how, &left.value(fields), &right.value(fields)),
            condition => condition.truth(fields).map_or(Null, Plain::Bool),
        }
    }

    fn truth(&self, fields: &BTreeMap<&str, Plain>) -> Option<bool> {
        let not = |truth: Option<bool>| truth.map(|value| !value);
        match self {
            Self::Not(inner) => not(inner.truth(fields)),
            Self::And(left, right) => and(left.truth(fields), right.truth(fields)),
            Self::Or(left, right) => not(and(not(left.truth(fields)), not(right.truth(fields)))),
            Self::Compare(how, left, right) => compare(&left.value(fields), how, &right.value(fields)),
            Self::Between(value, low, high, negated) => {
                let (value, low, high) = (value.value(fields), low.value(fields), high.value(fields));
                match negated {
                    false => and(compare(&value, ">=", &low), compare(&value, "<=", &high)),
                    true => {
                        let outside = (compare(&value, "<", &low), compare(&value, ">", &high));
                        not(and(not(outside.0), not(outside.1)))
                    }
                }
            }
            Self::In(value, list, negated) => {
                let found = match value.value(fields) {
                    Null => None,
                    Text(text) => Some(list.contains(&text)),
                    _ => Some(false),
                };
                if *negated { not(found) } else { found }
            }
            Self::Like(value, pattern, negated) => {
                let fits = match value.value(fields) {
                    Null => None,
                    Text(text) => Some(like(&pattern.chars().collect::<Vec<_>>(), &text.chars().collect::<Vec<_>>())),
                    _ => Some(false),
                };
                if *negated { not(fits) } else { fits }
            }
            Self::IsNull(value, negated) => Some((value.value(fields) == Null) != *negated),
            value => match value.value(fields) {
                Plain::Bool(value) => Some(value),
                _ => None,
            },
        }
    }
}

fn and(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn float(value: &Plain) -> Option<f64> {
    match value {
        Int(number) => Some(*number as f64),
        Float(number) => Some(*number),
        _ => None,
    }
}

fn calculate(how: char, left: &Plain, right: &Plain) -> Plain {
    if let (Int(left), Int(right)) = (left, right) {
        return match how {
            '+' => Int(left + right),
            '-' => Int(left - right),
            '*' => Int(left * right),
            _ if *right == 0 => Null,
            _ => Int(left / right),
        };
    }
    match (float(left), float(right)) {
        (Some(left), Some(right)) => Float(match how {
            '+' => left + right,
            '-' => left - right,
            '*' => left * right,
            _ => left / right,
        }),
        _ => Null,
    }
}

fn compare(left: &Plain, how: &str, right: &Plain) -> Option<bool> {
    let order = match (left, right) {
        (Null, _) | (_, Null) => return None,
        (Text(left), Text(right)) => Some(left.cmp(right)),
        (Plain::Bool(left), Plain::Bool(right)) => {
            return Some(match how {
                "=" => left == right,
                "<>" => left != right,
                _ => false,
            });
        }
        (Int(left), Int(right)) => Some(left.cmp(right)),
        _ => match (float(left), float(right)) {
            (Some(left), Some(right)) => left.partial_cmp(&right),
            _ => return Some(false),
        },
    };
    Some(match how {
        "=" => order.is_some_and(|order| order.is_eq()),
        "<>" => !order.is_some_and(|order| order.is_eq()),
        "<" => order.is_some_and(|order| order.is_lt()),
        "<=" => order.is_some_and(|order| order.is_le()),
        ">" => order.is_some_and(|order| order.is_gt()),
        _ => order.is_some_and(|order| order.is_ge()),
    })
}

fn like(pattern: &[char], text: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['%', rest @ ..] => (0..=text.len()).any(|skipped| like(rest, &text[skipped..])),
        ['_', rest @ ..] => !text.is_empty() && like(rest, &text[1..]),
        ['!', char, rest @ ..] | [char, rest @ ..] => text.first() == Some(char) && like(rest, &text[1..]),
    }
}

/// What has a value and is no constant condition.
fn term() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        4 => (0..NAMES.len()).prop_map(Expr::Name),
        1 => (-3..4).prop_map(Expr::Int),
        1 => (-2..3).prop_map(Expr::Half),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        (prop::sample::select(vec!['+', '-', '*', '/']), inner.clone(), inner)
            .prop_map(|(how, left, right)| Expr::Calculate(how, Box::new(left), Box::new(right)))
    })
}

fn text() -> impl Strategy<Value = String> {
    "[ab'ö]{0,3}"
}

fn condition() -> impl Strategy<Value = Expr> {
    let comparison = prop::sample::select(vec!["=", "<>", "<", "<=", ">", ">="]);
    let operand = || prop_oneof![3 => term(), 1 => text().prop_map(Expr::Text)].prop_map(Box::new);
    let leaf = prop_oneof![
        (0..NAMES.len()).prop_map(Expr::Name),
        any::<bool>().prop_map(Expr::Bool),
        (comparison, operand(), operand()).prop_map(|(how, left, right)| Expr::Compare(how, left, right)),
        (operand(), operand(), operand(), any::<bool>())
            .prop_map(|(value, low, high, not)| Expr::Between(value, low, high, not)),
        (operand(), prop::collection::vec(text(), 1..4), any::<bool>())
            .prop_map(|(value, list, not)| Expr::In(value, list, not)),
        (operand(), "([ab'ö%_]|![%_!]){0,5}", any::<bool>())
            .prop_map(|(value, pattern, not)| Expr::Like(value, pattern, not)),
        (operand(), any::<bool>()).prop_map(|(value, not)| Expr::IsNull(value, not)),
    ];
    leaf.prop_recursive(4, 24, 2, |inner| {
        let inner = inner.prop_map(Box::new);
        prop_oneof![
            inner.clone().prop_map(Expr::Not),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| Expr::And(left, right)),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| Expr::Or(left, right)),
            (prop::sample::select(vec!["=", "<>"]), inner.clone(), inner)
                .prop_map(|(how, left, right)| Expr::Compare(how, left, right)),
        ]
    })
}

fn plain() -> impl Strategy<Value = Plain> {
    prop_oneof![
        Just(Null),
        any::<bool>().prop_map(Plain::Bool),
        (-3i128..4).prop_map(Int),
        prop::sample::select(vec![-1.5, 0.0, 0.5, 2.0, f64::NAN, f64::INFINITY]).prop_map(Float),
        text().prop_map(Text),
    ]
}

fn encode(value: &Plain) -> Value {
    match value {
        Null => Value::Null,
        Plain::Bool(value) => Value::Bool(*value),
        Int(number) => Value::Long(i64::try_from(*number).expect("small")),
        Float(number) => Value::Double(*number),
        Text(text) => Value::String(text.clone()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn a_selector_says_what_the_reference_says(
        expr in condition(),
        values in prop::collection::vec(plain(), 4),
        note in plain(),
        subject in prop::option::of(text()),
    ) {
        let mut fields: BTreeMap<&str, Plain> =
            ["a", "b", "c", "with-hyphen"].into_iter().zip(values.iter().cloned()).collect();
        let mut message = Message::new(Body::Empty);
        message.application_properties =
            fields.iter().map(|(name, value)| (*name, encode(value))).collect::<Map>();
        message.message_annotations.insert_symbol("x-note", encode(&note));
        fields.insert("m.x-note", note);
        if let Some(subject) = &subject {
            fields.insert("JMSType", Text(subject.clone()));
        }
        message.properties.subject = subject;
        let text = expr.render();
        let selector = Selector::parse(&text).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        prop_assert_eq!(selector.matches(&message.to_bytes()), expr.truth(&fields) == Some(true), "{}", text);
    }

    #[test]
    fn any_text_is_a_selector_or_a_mistake_in_it(text in "\\PC{0,60}") {
        if let Err(error) = Selector::parse(&text) {
            prop_assert!(text.is_char_boundary(error.offset));
        }
    }

    #[test]
    fn any_words_are_a_selector_or_a_mistake_in_it(
        words in prop::collection::vec(prop::sample::select(vec![
            "a", "'x'", "5", "1.5", "(", ")", "AND", "OR", "NOT", "=", "<", "LIKE", "IN", "IS", "NULL", "BETWEEN",
            "ESCAPE", ",", "-", "*", "TRUE", "amqp.priority", "\"q\"",
        ]), 0..14)
    ) {
        let text = words.join(" ");
        if let Ok(selector) = Selector::parse(&text) {
            let _ = selector.matches(b"");
            prop_assert_eq!(selector.text(), text);
        }
    }
}
