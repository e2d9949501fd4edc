//! `qdmanage`: shows and changes the entities of a router, with the old tool's command line and output.

mod arguments;
mod attributes;
mod operations;

use std::io::{Read, Write};

use amqp::Value;

use crate::client::{Client, Node};
use crate::old_tools::{Ended, connect_options, finish, node_address};
use crate::python::dumps;
use arguments::Arguments;
use operations::{Answer, Operation};

/// Runs the program with the words of its command line, without its name, and returns its exit status: 0; 1 if the
/// operation failed (the reason is on the standard output); 2 if the command line is wrong.
pub fn run(words: &[String], out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let input = || {
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text).map(|_| text)
    };
    let result = Arguments::parse(words).map_err(Ended::from).and_then(|arguments| manage(&arguments, input, out));
    finish(result, out, err)
}

fn manage(
    arguments: &Arguments,
    input: impl FnOnce() -> std::io::Result<String>,
    out: &mut dyn Write,
) -> Result<(), Ended> {
    let operation = Operation::prepare(arguments, input)?;
    let options = connect_options(&arguments.parsed)?;
    let mut client = Client::connect(&options)?;
    let mut node = Node::attach(&mut client, &node_address(&arguments.parsed, &options.url))?;
    let answer = operation.perform(&mut client, &mut node)?;
    print(&answer, arguments.indent, out)?;
    client.close();
    Ok(())
}

fn print(answer: &Answer, indent: Option<usize>, out: &mut dyn Write) -> std::io::Result<()> {
    match answer {
        Answer::Nothing => Ok(()),
        Answer::Json(value) => writeln!(out, "{}", dumps(value, indent)),
        Answer::Custom(value) if is_empty(value) => Ok(()),
        Answer::Custom(value) => match value.as_text() {
            Some(text) => writeln!(out, "{text}"),
            None => writeln!(out, "{}", dumps(value, indent)),
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
