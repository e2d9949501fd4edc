//! `qdmanage`: shows and changes the entities of a router, with the old tool's command line and output.

mod arguments;
mod attributes;
mod conditions;
mod operations;

use std::io::{Read, Write};

use amqp::Value;
use management::json::{dump, to_json};

use crate::client::{Client, ConnectOptions, Node};
use crate::old_tools::{Ended, connect_options, finish, node_address};
use operations::{Answer, Operation};

/// What to ask of a management node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// As it was typed.
    pub operation: String,
    /// The words after it: attributes, with or without values.
    pub words: Vec<String>,
    /// Attributes with the values that an entity must have, for queries: `NAME=VALUE`.
    pub conditions: Vec<String>,
    /// Short or full.
    pub entity_type: Option<String>,
    /// Of the entity.
    pub name: Option<String>,
    /// Of the entity.
    pub identity: Option<String>,
    /// Read attributes as JSON from the standard input.
    pub stdin: bool,
    /// JSON, or plain text, for operations other than the standard ones.
    pub body: Option<String>,
    /// JSON, for operations other than the standard ones.
    pub properties: Option<String>,
    /// A deletion is to be done whatever is lost by it (queues and topics).
    pub force: bool,
    /// Blanks by which JSON is indented; `None`: all on one line.
    pub indent: Option<usize>,
}

impl Request {
    /// How many words may follow the operation.
    pub fn most_words(&self) -> usize {
        match self.operation.to_uppercase().as_str() {
            "READ" | "DELETE" | "GET-MGMT-NODES" => 0,
            "GET-TYPES" | "GET-ATTRIBUTES" | "GET-OPERATIONS" | "GET-ANNOTATIONS" => 1,
            _ => usize::MAX,
        }
    }
}

/// Runs the program with the words of its command line, without its name, and returns its exit status: 0; 1 if the
/// operation failed (the reason is on the standard output); 2 if the command line is wrong.
pub fn run(words: &[String], out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let result = arguments::parse(words).map_err(Ended::from).and_then(|(request, parsed)| {
        let options = connect_options(&parsed)?;
        perform(&request, &options, &node_address(&parsed, &options.url), out)
    });
    finish(result, out, err)
}

/// Asks the management node at `address`, and writes what it answers.
///
/// # Errors
/// If the request makes no sense, the router does not answer or refuses, or the output does not take the answer.
pub fn perform(request: &Request, options: &ConnectOptions, address: &str, out: &mut dyn Write) -> Result<(), Ended> {
    let operation = Operation::prepare(request, read_input)?;
    let mut client = Client::connect(options)?;
    let mut node = Node::attach(&mut client, address)?;
    let answer = operation.perform(&mut client, &mut node)?;
    print(&answer, request.indent, out)?;
    client.close();
    Ok(())
}

fn read_input() -> std::io::Result<String> {
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text).map(|_| text)
}

fn print(answer: &Answer, indent: Option<usize>, out: &mut dyn Write) -> std::io::Result<()> {
    match answer {
        Answer::Nothing => Ok(()),
        Answer::Json(value) => writeln!(out, "{}", dump(&to_json(value), indent)),
        Answer::Custom(value) if is_empty(value) => Ok(()),
        Answer::Custom(value) => match value.as_text() {
            Some(text) => writeln!(out, "{text}"),
            None => writeln!(out, "{}", dump(&to_json(value), indent)),
        },
    }
}

/// What Python takes for false: then there is nothing to print.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Binary(bytes) => bytes.is_empty(),
        Value::Map(map) => map.is_empty(),
        other => {
            other.as_text() == Some("")
                || other.as_i64() == Some(0)
                || other.as_f64() == Some(0.0)
                || other.as_sequence().is_some_and(<[Value]>::is_empty)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amqp::Map;

    fn printed(answer: &Answer) -> String {
        let mut out = Vec::new();
        print(answer, Some(2), &mut out).expect("memory takes everything");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn an_empty_answer_is_printed_only_for_the_standard_operations() {
        assert_eq!(printed(&Answer::Json(Map::new().into())), "{}\n");
        assert_eq!(printed(&Answer::Custom(Map::new().into())), "");
        assert_eq!(printed(&Answer::Custom(0_i32.into())), "");
        assert_eq!(printed(&Answer::Nothing), "");
    }

    #[test]
    fn text_that_an_operation_answers_is_printed_as_it_is() {
        assert_eq!(printed(&Answer::Custom("{\"a\": 1}".into())), "{\"a\": 1}\n");
        assert_eq!(printed(&Answer::Json("a".into())), "\"a\"\n");
    }
}
