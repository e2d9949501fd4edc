//! Reading texts as if they were files.

use config::{Config, ConnectorConfig, Errors, ListenerConfig, Source};

/// Reads a text in the line-oriented form.
pub(crate) fn read(text: &str) -> Result<Config, Errors> {
    read_as("router.conf", text)
}

/// Reads a text as a file of this name.
pub(crate) fn read_as(name: &str, text: &str) -> Result<Config, Errors> {
    Config::from_sources(&Source::new(name, text), &mut |_| Ok(Vec::new()))
}

/// The only listener of a file.
pub(crate) fn listener(text: &str) -> ListenerConfig {
    let config = read(text).expect("the file should be valid");
    let (_, listener) = config.listeners().next().expect("there should be a listener");
    listener.clone()
}

/// The only connector of a file.
pub(crate) fn connector(text: &str) -> ConnectorConfig {
    let config = read(text).expect("the file should be valid");
    let (_, connector) = config.connectors().next().expect("there should be a connector");
    connector.clone()
}

/// What is wrong with a file: line, column and text of each mistake.
pub(crate) fn mistakes(text: &str) -> Vec<(u32, u32, String)> {
    let errors = read(text).expect_err("the file should be refused");
    let place = |problem: &config::Problem| problem.place.as_ref().map_or((0, 0), |place| (place.line, place.column));
    errors.problems.iter().map(|problem| (place(problem).0, place(problem).1, problem.text.clone())).collect()
}

/// The text of the only mistake in a file.
pub(crate) fn mistake(text: &str) -> String {
    let mut mistakes = mistakes(text);
    assert_eq!(mistakes.len(), 1, "one mistake: {mistakes:?}");
    mistakes.remove(0).2
}
