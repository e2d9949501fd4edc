//! Options, and the walk over a command line.

use std::collections::BTreeMap;

use super::words::{Ambiguous, Word, classify};

/// What an option is followed by, or does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: it is there or not.
    Nothing,
    /// A text.
    Text,
    /// A whole number.
    Int,
    /// A number, `argparse`'s float.
    Float,
    /// Nothing: it prints the help and ends the program.
    Help,
    /// Nothing: it prints the version and ends the program.
    Version,
}

/// An option.
#[derive(Clone, Copy, Debug)]
pub struct Opt {
    /// All its names, dashes included: `["-g", "--general"]`. The last one is what the result is asked by.
    pub names: &'static [&'static str],
    /// What follows it.
    pub takes: Takes,
    /// Options with the same group exclude each other; 0 is no group.
    pub group: u8,
}

impl Opt {
    fn key(&self) -> &'static str {
        self.names.last().copied().unwrap_or_default()
    }
}

/// A program's options and the texts it prints about itself.
#[derive(Clone, Copy, Debug)]
pub struct Parser {
    /// The name that stands before errors.
    pub program: &'static str,
    /// The usage, with its line end.
    pub usage: &'static str,
    /// What help prints after the usage.
    pub help: &'static str,
    /// What the version option prints.
    pub version: &'static str,
    /// All options, in lists that other programs may share.
    pub options: &'static [&'static [Opt]],
}

/// What a command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    values: BTreeMap<&'static str, String>,
    /// The words that are no options of the parser's, in order; `--` and all after it are among them.
    pub words: Vec<String>,
    /// Those of the words that look like options.
    pub unknown: Vec<String>,
}

impl Parsed {
    /// Whether an option is there; `name` is the last of its names.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The value of an option, the last one if it is there several times.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }
}

/// Why the program ends before it has done anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Print this on the standard output, exit with 0.
    Answer(String),
    /// Print this on the standard error output, exit with 2.
    Usage(String),
}

impl Parser {
    /// Reads a command line, without the program's name.
    ///
    /// # Errors
    /// If the program is to end: help or version were asked for, or something is wrong.
    pub fn parse(&self, arguments: &[String]) -> Result<Parsed, Stop> {
        let mut walk = Walk { parser: self, parsed: Parsed::default(), groups: BTreeMap::new() };
        let mut rest = arguments;
        while let Some((word, after)) = rest.split_first() {
            if word == "--" {
                walk.parsed.words.extend(rest.iter().cloned());
                break;
            }
            rest = match classify(self, word).map_err(|Ambiguous(text)| self.wrong(&text))? {
                Word::Argument => {
                    walk.parsed.words.push(word.clone());
                    after
                }
                Word::Unknown => {
                    walk.parsed.words.push(word.clone());
                    walk.parsed.unknown.push(word.clone());
                    after
                }
                Word::Option { option, written, attached } => walk.option(option, &written, attached, after)?,
            };
        }
        Ok(walk.parsed)
    }

    /// As [`Parser::parse`], for a program that takes options only.
    ///
    /// # Errors
    /// As there, and if there are other words.
    pub fn parse_options(&self, arguments: &[String]) -> Result<Parsed, Stop> {
        let parsed = self.parse(arguments)?;
        if parsed.words.is_empty() { Ok(parsed) } else { Err(self.unrecognized(&parsed.words)) }
    }

    /// The end of a program that does not know what to do with these words.
    pub fn unrecognized(&self, words: &[String]) -> Stop {
        self.wrong(&format!("unrecognized arguments: {}", words.join(" ")))
    }

    /// The end of a program whose command line is wrong.
    pub fn wrong(&self, text: &str) -> Stop {
        Stop::Usage(format!("{}{}: error: {text}\n", self.usage, self.program))
    }

    pub(super) fn option(&self, name: &str) -> Option<&'static Opt> {
        self.names().find(|(_, known)| *known == name).map(|(option, _)| option)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = (&'static Opt, &'static str)> {
        self.options.iter().copied().flatten().flat_map(|option| option.names.iter().map(move |name| (option, *name)))
    }
}

struct Walk<'p> {
    parser: &'p Parser,
    parsed: Parsed,
    /// The option seen last of each group.
    groups: BTreeMap<u8, &'static Opt>,
}

impl Walk<'_> {
    /// Takes in an option with its value, and says what is left after it.
    fn option<'a>(
        &mut self,
        mut option: &'static Opt,
        written: &str,
        mut attached: Option<&str>,
        after: &'a [String],
    ) -> Result<&'a [String], Stop> {
        loop {
            let takes_value = matches!(option.takes, Takes::Text | Takes::Int | Takes::Float);
            match (takes_value, attached) {
                (true, Some(value)) => {
                    self.store(option, value)?;
                    return Ok(after);
                }
                (true, None) => {
                    let Some((value, after)) = after.split_first().filter(|(word, _)| self.can_be_value(word)) else {
                        return Err(self.wrong(option, "expected one argument"));
                    };
                    self.store(option, value)?;
                    return Ok(after);
                }
                (false, None) => {
                    self.store(option, "")?;
                    return Ok(after);
                }
                (false, Some(more)) => {
                    // Perhaps the rest of the word is further short options.
                    let end = more.char_indices().nth(1).map_or(more.len(), |(at, _)| at);
                    let (next, rest) = more.split_at(end);
                    let next = (!written.starts_with("--") && !more.is_empty())
                        .then(|| self.parser.option(&format!("-{next}")))
                        .flatten();
                    let Some(next) = next else {
                        let more = management::repr::repr(&more.into());
                        return Err(self.wrong(option, &format!("ignored explicit argument {more}")));
                    };
                    self.store(option, "")?;
                    option = next;
                    attached = Some(rest).filter(|rest| !rest.is_empty());
                }
            }
        }
    }

    fn can_be_value(&self, word: &str) -> bool {
        word != "--" && matches!(classify(self.parser, word), Ok(Word::Argument))
    }

    fn store(&mut self, option: &'static Opt, value: &str) -> Result<(), Stop> {
        match option.takes {
            Takes::Help => return Err(Stop::Answer(format!("{}{}", self.parser.usage, self.parser.help))),
            Takes::Version => return Err(Stop::Answer(format!("{}\n", self.parser.version))),
            Takes::Int if crate::python::int(value).is_err() => return Err(self.invalid(option, "int", value)),
            Takes::Float if value.trim().parse::<f64>().is_err() => return Err(self.invalid(option, "float", value)),
            _ => {}
        }
        if option.group != 0
            && let Some(other) = self.groups.insert(option.group, option)
            && other.key() != option.key()
        {
            return Err(self.wrong(option, &format!("not allowed with argument {}", other.names.join("/"))));
        }
        self.parsed.values.insert(option.key(), value.to_owned());
        Ok(())
    }

    fn invalid(&self, option: &Opt, kind: &str, value: &str) -> Stop {
        self.wrong(option, &format!("invalid {kind} value: {}", management::repr::repr(&value.into())))
    }

    fn wrong(&self, option: &Opt, text: &str) -> Stop {
        self.parser.wrong(&format!("argument {}: {text}", option.names.join("/")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARSER: Parser = Parser {
        program: "prog",
        usage: "usage: prog\n",
        help: "\nhelp\n",
        version: "1.19.0",
        options: &[&[
            Opt { names: &["-h", "--help"], takes: Takes::Help, group: 0 },
            Opt { names: &["--version"], takes: Takes::Version, group: 0 },
            Opt { names: &["-v", "--verbose"], takes: Takes::Nothing, group: 0 },
            Opt { names: &["-c", "--connections"], takes: Takes::Nothing, group: 1 },
            Opt { names: &["-g", "--general"], takes: Takes::Nothing, group: 1 },
            Opt { names: &["-b", "--bus"], takes: Takes::Text, group: 0 },
            Opt { names: &["-t", "--timeout"], takes: Takes::Float, group: 0 },
            Opt { names: &["--limit"], takes: Takes::Int, group: 0 },
            Opt { names: &["--all-routers"], takes: Takes::Nothing, group: 0 },
            Opt { names: &["--all-entities"], takes: Takes::Nothing, group: 0 },
        ]],
    };

    fn parse(line: &str) -> Result<Parsed, Stop> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        PARSER.parse_options(&words)
    }

    fn error(line: &str) -> String {
        match parse(line) {
            Err(Stop::Usage(text)) => text.strip_prefix("usage: prog\nprog: error: ").unwrap_or(&text).to_owned(),
            other => panic!("not a usage error: {other:?}"),
        }
    }

    #[test]
    fn short_options_are_bundled_and_the_last_may_carry_its_value() {
        let parsed = parse("-cvbhost:1").expect("valid");
        assert!(parsed.has("--connections") && parsed.has("--verbose"));
        assert_eq!(parsed.get("--bus"), Some("host:1"));
    }

    #[test]
    fn long_options_are_abbreviated() {
        let parsed = parse("--gen --bu=a=b --timeo 2.5").expect("valid");
        assert!(parsed.has("--general"));
        assert_eq!(parsed.get("--bus"), Some("a=b"));
        assert_eq!(parsed.get("--timeout"), Some("2.5"));
    }

    #[test]
    fn an_abbreviation_of_several_options_names_them() {
        assert_eq!(error("--all"), "ambiguous option: --all could match --all-routers, --all-entities\n");
    }

    #[test]
    fn a_negative_number_is_a_value() {
        assert_eq!(parse("--limit -1").expect("valid").get("--limit"), Some("-1"));
    }

    #[test]
    fn an_option_is_no_value() {
        assert_eq!(error("--limit --verbose"), "argument --limit: expected one argument\n");
        assert_eq!(error("-t"), "argument -t/--timeout: expected one argument\n");
    }

    #[test]
    fn values_of_the_wrong_kind_are_named() {
        assert_eq!(error("--limit="), "argument --limit: invalid int value: ''\n");
        assert_eq!(error("-t x"), "argument -t/--timeout: invalid float value: 'x'\n");
    }

    #[test]
    fn a_value_for_an_option_without_one_is_refused() {
        assert_eq!(error("-gx"), "argument -g/--general: ignored explicit argument 'x'\n");
        assert_eq!(error("-g=3"), "argument -g/--general: ignored explicit argument '3'\n");
        assert_eq!(error("--verbose=3"), "argument -v/--verbose: ignored explicit argument '3'\n");
    }

    #[test]
    fn options_of_a_group_exclude_each_other_but_not_themselves() {
        assert_eq!(error("-g -c"), "argument -c/--connections: not allowed with argument -g/--general\n");
        assert!(parse("-c -c").is_ok());
    }

    #[test]
    fn all_unknown_words_are_told_in_order() {
        assert_eq!(error("x --foo y -z -- -g"), "unrecognized arguments: x --foo y -z -- -g\n");
    }

    #[test]
    fn help_and_version_answer_at_once() {
        assert_eq!(parse("-h --nosuch"), Err(Stop::Answer("usage: prog\n\nhelp\n".to_owned())));
        assert_eq!(parse("--version"), Err(Stop::Answer("1.19.0\n".to_owned())));
    }
}
