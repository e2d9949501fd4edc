//! The operations, from the words of the command line to what the router answers.

use amqp::{Map, Value};
use management::client::{self, full_type};
use management::repr::repr;

use super::Request;
use super::attributes::{from_json, from_words};
use super::conditions;
use crate::client::{Client, ClientError, Node};
use crate::old_tools::Ended;

/// What an operation gives back.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// Nothing to print.
    Nothing,
    /// To be printed as JSON.
    Json(Value),
    /// The answer to an operation that this program does not know.
    Custom(Value),
}

/// What to ask of the router.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operation {
    /// All entities of a type, page by page, that have certain values; `one`: only the first of them.
    Query { full_type: Option<String>, attributes: Vec<String>, conditions: Map, one: bool },
    /// Requests one by one; `list`: the answers are printed as a list even if there is only one.
    Each { requests: Vec<client::Request>, list: bool },
    /// A request whose answer is not printed.
    Silent(client::Request),
    /// An operation of the management node itself.
    Get { operation: String, entity_type: Option<String> },
    /// Any other operation.
    Custom(client::Request),
}

impl Operation {
    /// Works out what to ask; `input` is the standard input, read if it is needed.
    pub(super) fn prepare(request: &Request, input: impl FnOnce() -> std::io::Result<String>) -> Result<Self, Ended> {
        let full = request.entity_type.as_deref().map(full_type);
        let operation = request.operation.to_uppercase();
        Ok(match operation.as_str() {
            "QUERY" => {
                let conditions = from_words(&request.conditions, None)?;
                Self::Query { full_type: full, attributes: request.words.clone(), conditions, one: false }
            }
            "READ" if !request.conditions.is_empty() && request.name.is_none() && request.identity.is_none() => {
                let conditions = from_words(&request.conditions, None)?;
                Self::Query { full_type: full, attributes: Vec::new(), conditions, one: true }
            }
            "CREATE" | "UPDATE" => {
                let (maps, list) = if request.stdin {
                    maps_of(&input()?)?
                } else {
                    (vec![from_words(&request.words, full.as_deref())?], false)
                };
                Self::Each { requests: maps.into_iter().map(|map| message(&operation, request, map)).collect(), list }
            }
            "READ" => Self::Each { requests: vec![message(&operation, request, Map::new())], list: false },
            "DELETE" if request.force => Self::Silent(message(&operation, request, Map::new()).with("force", true)),
            "DELETE" => Self::Silent(message(&operation, request, Map::new())),
            "GET-TYPES" | "GET-ATTRIBUTES" | "GET-OPERATIONS" | "GET-ANNOTATIONS" | "GET-MGMT-NODES" => {
                Self::Get { operation, entity_type: full.or_else(|| request.words.first().cloned()) }
            }
            _ => Self::Custom(custom(request, full)?),
        })
    }

    /// Asks.
    pub(super) fn perform(self, connection: &mut Client, node: &mut Node) -> Result<Answer, ClientError> {
        match self {
            Self::Query { full_type, attributes, conditions, one } => {
                let mut names: Vec<&str> = attributes.iter().map(String::as_str).collect();
                if !names.is_empty() {
                    names.extend(conditions.0.iter().filter_map(|(name, _)| name.as_text()));
                }
                let found = node.query(connection, full_type.as_deref(), &names, 0)?;
                let maps = found.into_entities().iter().map(|entity| entity.to_map()).collect();
                let mut maps = conditions::meeting(maps, &conditions, &attributes);
                match (one, maps.is_empty()) {
                    (false, _) => Ok(Answer::Json(Value::List(maps))),
                    (true, false) => Ok(Answer::Json(maps.swap_remove(0))),
                    (true, true) => Err(ClientError::Invalid("No entity has these attributes".to_owned())),
                }
            }
            Self::Each { requests, list } => {
                let mut answers = Vec::with_capacity(requests.len());
                for request in requests {
                    answers.push(node.call(connection, request)?);
                }
                match answers.pop() {
                    Some(only) if !list => Ok(Answer::Json(only)),
                    last => Ok(Answer::Json(Value::List(answers.into_iter().chain(last).collect()))),
                }
            }
            Self::Silent(request) => node.call(connection, request).map(|_| Answer::Nothing),
            Self::Get { operation, entity_type } => {
                let request = client::Request::node(&operation);
                let request = match entity_type {
                    Some(entity_type) => request.with("entityType", entity_type),
                    None => request,
                };
                node.call(connection, request).map(Answer::Json)
            }
            Self::Custom(request) => node.call(connection, request).map(Answer::Custom),
        }
    }
}

/// A request about one entity. What it is comes from the options, else from its attributes; an identity is enough.
fn message(operation: &str, request: &Request, body: Map) -> client::Request {
    let mut properties = Map::from_iter([("operation", operation)]);
    let given = |option: &Option<String>, name: &str| {
        option.clone().or_else(|| body.get(name).and_then(Value::as_text).map(str::to_owned))
    };
    if let Some(name) = given(&request.entity_type, "type") {
        properties.insert("type", full_type(&name));
    }
    // A module's log has its name.
    let is_log = properties.get("type").and_then(Value::as_text) == Some("org.apache.qpid.dispatch.log");
    let of_module =
        body.get("module").and_then(Value::as_text).filter(|_| is_log).map(|module| format!("log/{module}"));
    let identity = if operation == "CREATE" { None } else { given(&request.identity, "identity") };
    let name = if identity.is_some() { request.name.clone() } else { given(&request.name, "name").or(of_module) };
    if let Some(name) = name {
        properties.insert("name", name);
    }
    if let Some(identity) = identity {
        properties.insert("identity", identity);
    }
    client::Request { properties, body: Value::Map(body) }
}

fn custom(request: &Request, full: Option<String>) -> Result<client::Request, ClientError> {
    let mut properties = Map::from_iter([("operation", request.operation.as_str())]);
    let words = from_words(&request.words, full.as_deref())?;
    words.into_iter().filter(|(_, value)| !value.is_null()).for_each(|(key, value)| {
        properties.insert(key, value);
    });
    match request.properties.as_deref().map(json).transpose()? {
        None => {}
        Some(Value::Map(more)) => more.into_iter().for_each(|(key, value)| {
            properties.insert(key, value);
        }),
        Some(_) => return Err(ClientError::Value("--properties takes a JSON map, such as {\"limit\": 5}".to_owned())),
    }
    let about = [("type", &full), ("name", &request.name), ("identity", &request.identity)];
    about.into_iter().for_each(|(key, value)| {
        value.iter().for_each(|value| {
            properties.insert(key, value.as_str());
        });
    });
    let body = request.body.as_deref().map(json).transpose()?.filter(|body| !body.is_null());
    Ok(client::Request { properties, body: body.unwrap_or(Value::Map(Map::new())) })
}

/// JSON, or plain text that needs no quotes.
fn json(text: &str) -> Result<Value, ClientError> {
    match serde_json::from_str(text) {
        Ok(json) => Ok(management::json::from_json(&json)),
        Err(_) if !text.contains(['"', '{', '}', '[', ']']) => Ok(Value::from(text)),
        Err(error) => Err(ClientError::Value(format!("Invalid JSON {}: {error}", repr(&text.into())))),
    }
}

/// The maps of attributes in a JSON text, and whether they came as a list.
fn maps_of(text: &str) -> Result<(Vec<Map>, bool), ClientError> {
    let json: serde_json::Value = serde_json::from_str(text).map_err(ClientError::Json)?;
    let wrong = || ClientError::Value("stdin is not a JSON map or list".to_owned());
    match &json {
        serde_json::Value::Array(items) => {
            let not_a_map =
                || ClientError::Value("stdin is a JSON list with something other than maps in it".to_owned());
            Ok((items.iter().map(|item| from_json(item).ok_or_else(not_a_map)).collect::<Result<_, _>>()?, true))
        }
        json => Ok((vec![from_json(json).ok_or_else(wrong)?], false)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMMY: &str = "org.apache.qpid.dispatch.dummy";

    fn prepare(line: &str, input: &str) -> Result<Operation, Ended> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Operation::prepare(&crate::qdmanage::arguments::parse(&words)?.0, || Ok(input.to_owned()))
    }

    fn failure(result: Result<Operation, Ended>) -> String {
        match result {
            Err(Ended::Failed(error)) => format!("{}: {error}", error.class()),
            other => panic!("not a failure: {other:?}"),
        }
    }

    fn only(operation: Operation) -> client::Request {
        match operation {
            Operation::Each { mut requests, list: false } => requests.remove(0),
            Operation::Silent(request) | Operation::Custom(request) => request,
            other => panic!("not one request: {other:?}"),
        }
    }

    #[test]
    fn a_creation_names_type_and_name() {
        let request = only(prepare("create --type dummy --name d arg1=x num1=7", "").expect("valid"));
        assert_eq!(request.properties, Map::from_iter([("operation", "CREATE"), ("type", DUMMY), ("name", "d")]));
        assert_eq!(request.body, Map::from_iter([("arg1", Value::from("x")), ("num1", Value::Long(7))]).into());
    }

    #[test]
    fn an_entity_read_from_standard_input_names_itself() {
        let request =
            only(prepare("update --stdin", r#"{"identity": "i", "name": "n", "type": "dummy"}"#).expect("valid"));
        assert_eq!(request.properties, Map::from_iter([("operation", "UPDATE"), ("type", DUMMY), ("identity", "i")]));
        assert_eq!(request.body.as_map().and_then(|map| map.get("type")), Some(&Value::from(DUMMY)));
    }

    #[test]
    fn a_list_on_standard_input_is_answered_by_a_list() {
        let Operation::Each { requests, list } =
            prepare("create --type dummy --stdin", r#"[{"name": "a"}]"#).expect("valid")
        else {
            panic!("requests one by one")
        };
        assert_eq!((requests.len(), list), (1, true));
    }

    #[test]
    fn standard_input_has_to_be_a_map_or_a_list() {
        assert_eq!(failure(prepare("create --stdin", "17")), "ValueError: stdin is not a JSON map or list");
        assert!(failure(prepare("create --stdin", "{bad")).starts_with("JSONDecodeError: "));
    }

    #[test]
    fn an_unknown_operation_is_sent_as_it_was_typed() {
        let line = r#"callMe --type dummy --name d num1=3 arg2 --properties {"a":1} --body [1]"#;
        let request = only(prepare(line, "").expect("valid"));
        let mut wanted = Map::from_iter([("operation", Value::from("callMe")), ("num1", Value::Long(3))]);
        wanted.insert("a", Value::Int(1));
        wanted.insert("type", DUMMY);
        wanted.insert("name", "d");
        assert_eq!(request, client::Request { properties: wanted, body: Value::List(vec![Value::Int(1)]) });
    }

    #[test]
    fn json_may_be_plain_text_unless_it_looks_like_json() {
        assert_eq!(json("plain").expect("text"), "plain".into());
        assert_eq!(json("17").expect("a number"), Value::Int(17));
        let error = json("{bad").unwrap_err();
        assert!(error.to_string().starts_with("Invalid JSON '{bad': "), "{error}");
    }

    #[test]
    fn a_type_given_as_an_option_is_completed_and_as_a_word_is_not() {
        let get = |line| prepare(line, "").expect("valid");
        let operation = || "GET-TYPES".to_owned();
        assert_eq!(get("get-types x"), Operation::Get { operation: operation(), entity_type: Some("x".to_owned()) });
        assert_eq!(
            get("Get-Types x --type dummy"),
            Operation::Get { operation: operation(), entity_type: Some(DUMMY.to_owned()) }
        );
    }
}
