//! Command lines as GNU `getopt_long` reads them: short options bundled, long ones abbreviated, options and other words
//! in any order, and its diagnostics.

/// An option.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opt {
    /// `-c`
    pub(super) short: char,
    /// `--config`
    pub(super) long: &'static str,
    /// An argument follows.
    pub(super) takes_argument: bool,
}

/// What a command line says, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// An option by its short name, and its argument (empty if it takes none).
    Option(char, String),
    /// Any other word.
    Word(String),
}

/// Reads a command line without the program's name: what it says up to the first mistake, and that mistake in
/// `getopt`'s words, without the program's name.
pub(super) fn parse(options: &[Opt], words: &[String]) -> (Vec<Item>, Option<String>) {
    let mut items = Vec::new();
    let mistake = read(options, words, &mut items).err();
    (items, mistake)
}

fn read(options: &[Opt], words: &[String], items: &mut Vec<Item>) -> Result<(), String> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            items.extend(words.by_ref().cloned().map(Item::Word));
        } else if let Some(long) = word.strip_prefix("--") {
            items.push(long_option(options, long, &mut words)?);
        } else if let Some(bundle) = word.strip_prefix('-').filter(|bundle| !bundle.is_empty()) {
            short_options(options, bundle, &mut words, items)?;
        } else {
            items.push(Item::Word(word.clone()));
        }
    }
    Ok(())
}

fn long_option<'w>(options: &[Opt], text: &str, words: &mut impl Iterator<Item = &'w String>) -> Result<Item, String> {
    let (name, attached) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    let exact = options.iter().find(|option| option.long == name);
    let possible: Vec<&Opt> = options.iter().filter(|option| option.long.starts_with(name)).collect();
    let option = match (exact, &possible[..]) {
        (Some(option), _) => option,
        (None, [option]) => *option,
        (None, []) => return Err(format!("unrecognized option '--{text}'")),
        (None, several) => {
            let names: Vec<String> = several.iter().map(|option| format!(" '--{}'", option.long)).collect();
            return Err(format!("option '--{text}' is ambiguous; possibilities:{}", names.concat()));
        }
    };
    let long = option.long;
    let argument = match (option.takes_argument, attached) {
        (true, Some(value)) => value,
        (true, None) => words.next().cloned().ok_or_else(|| format!("option '--{long}' requires an argument"))?,
        (false, None) => String::new(),
        (false, Some(_)) => return Err(format!("option '--{long}' doesn't allow an argument")),
    };
    Ok(Item::Option(option.short, argument))
}

fn short_options<'w>(
    options: &[Opt],
    bundle: &str,
    words: &mut impl Iterator<Item = &'w String>,
    items: &mut Vec<Item>,
) -> Result<(), String> {
    let mut chars = bundle.chars();
    while let Some(char) = chars.next() {
        let option = options.iter().find(|option| option.short == char);
        let option = option.ok_or_else(|| format!("invalid option -- '{char}'"))?;
        if !option.takes_argument {
            items.push(Item::Option(char, String::new()));
            continue;
        }
        let argument = match chars.as_str() {
            "" => words.next().cloned().ok_or_else(|| format!("option requires an argument -- '{char}'"))?,
            rest => rest.to_owned(),
        };
        items.push(Item::Option(char, argument));
        break;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: [Opt; 3] = [
        Opt { short: 'c', long: "config", takes_argument: true },
        Opt { short: 'C', long: "confine", takes_argument: false },
        Opt { short: 'd', long: "daemon", takes_argument: false },
    ];

    fn items(line: &str) -> (Vec<Item>, Option<String>) {
        parse(&OPTIONS, &line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    fn option(short: char, argument: &str) -> Item {
        Item::Option(short, argument.to_owned())
    }

    #[test]
    fn short_options_are_bundled_and_the_last_may_carry_its_argument() {
        assert_eq!(items("-dcx -c y"), (vec![option('d', ""), option('c', "x"), option('c', "y")], None));
    }

    #[test]
    fn long_options_are_abbreviated_and_take_their_argument_either_way() {
        let all = vec![option('c', "a"), option('d', ""), option('c', "b")];
        assert_eq!(items("--config=a --dae --config b"), (all, None));
    }

    #[test]
    fn words_stand_anywhere_and_nothing_is_an_option_after_two_dashes() {
        let word = |text: &str| Item::Word(text.to_owned());
        assert_eq!(items("a -d - -- -d"), (vec![word("a"), option('d', ""), word("-"), word("-d")], None));
    }

    #[test]
    fn what_stands_before_a_mistake_counts() {
        assert_eq!(items("-d -x -c y"), (vec![option('d', "")], Some("invalid option -- 'x'".to_owned())));
    }

    #[test]
    fn mistakes_are_told_in_the_usual_words() {
        let errors =
            ["--bad", "--con", "-x", "-c", "--config", "--daemon=1"].map(|line| items(line).1.expect("a mistake"));
        assert_eq!(
            errors,
            [
                "unrecognized option '--bad'",
                "option '--con' is ambiguous; possibilities: '--config' '--confine'",
                "invalid option -- 'x'",
                "option requires an argument -- 'c'",
                "option '--config' requires an argument",
                "option '--daemon' doesn't allow an argument",
            ]
        );
    }
}
