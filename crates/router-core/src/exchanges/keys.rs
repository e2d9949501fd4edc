//! Binding keys, and the tree in which all that fit a subject are found.
//!
//! Keys and subjects are tokens between separators. A key may have wildcards, of which one stands for exactly one token and
//! the other for any number of them.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::MatchMethod;

/// A subject of more tokens fits no key: what a peer sends must not keep the router busy.
const MOST_TOKENS: usize = 1_000;

impl MatchMethod {
    fn separator(self) -> char {
        match self {
            Self::Amqp => '.',
            Self::Mqtt => '/',
        }
    }

    fn any_one(self) -> &'static str {
        match self {
            Self::Amqp => "*",
            Self::Mqtt => "+",
        }
    }

    /// The tokens of a text. Separators before the first do not count, nor does one after the last.
    fn tokens(self, text: &str) -> impl Iterator<Item = &str> {
        let separator = self.separator();
        let text = text.trim_start_matches(separator);
        let text = text.strip_suffix(separator).unwrap_or(text);
        text.split(separator).take(if text.is_empty() { 0 } else { usize::MAX })
    }
}

/// Stands for any number of tokens.
const ANY: &str = "#";

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Literal(Box<str>),
    AnyOne,
    Any,
}

/// A valid binding key in its one form: any number of tokens come after any one token, and never twice in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key(Vec<Token>);

impl Key {
    /// A key as written; `None` if it is none: it has no token, or a `#` of MQTT is not its last one.
    pub(super) fn parse(method: MatchMethod, text: &str) -> Option<Self> {
        let mut tokens = Vec::new();
        let mut any = false;
        for token in method.tokens(text) {
            if any && method == MatchMethod::Mqtt {
                return None;
            }
            match token {
                ANY => any = true,
                token if token == method.any_one() => tokens.push(Token::AnyOne),
                literal => {
                    if std::mem::take(&mut any) {
                        tokens.push(Token::Any);
                    }
                    tokens.push(Token::Literal(literal.into()));
                }
            }
        }
        if any {
            tokens.push(Token::Any);
        }
        (!tokens.is_empty()).then_some(Self(tokens))
    }
}

#[derive(Default)]
struct Node {
    literals: BTreeMap<Box<str>, u32>,
    any_one: Option<u32>,
    any: Option<u32>,
    /// The node stands for any number of tokens: it is left by none of them.
    stays: bool,
    bindings: SmallVec<[u32; 2]>,
}

/// Bindings by key. A look-up costs about the number of tokens times that of the keys that still fit.
pub(super) struct Keys {
    method: MatchMethod,
    nodes: Vec<Node>,
}

impl Keys {
    pub(super) fn new(method: MatchMethod) -> Self {
        Self { method, nodes: vec![Node::default()] }
    }

    /// Adds a binding.
    pub(super) fn insert(&mut self, key: &Key, binding: u32) {
        let node = key.0.iter().fold(0, |node, token| self.child_or_new(node, token));
        self.nodes[node as usize].bindings.push(binding);
    }

    /// Removes a binding. Nodes stay for the next key like it, until the exchange goes.
    pub(super) fn remove(&mut self, key: &Key, binding: u32) {
        let node = key.0.iter().try_fold(0, |node, token| self.child(node, token));
        if let Some(node) = node {
            self.nodes[node as usize].bindings.retain(|other| *other != binding);
        }
    }

    /// Does something with each binding whose key fits.
    pub(super) fn each_match(&self, subject: &str, mut action: impl FnMut(u32)) {
        // The nodes that the tokens so far lead to, each once.
        let (mut at, mut next): (SmallVec<[u32; 16]>, SmallVec<[u32; 16]>) = (SmallVec::new(), SmallVec::new());
        self.reach(&mut at, 0);
        for (position, token) in self.method.tokens(subject).enumerate() {
            if position >= MOST_TOKENS || at.is_empty() {
                return;
            }
            for &node in &at {
                let from = &self.nodes[node as usize];
                if from.stays {
                    self.reach(&mut next, node);
                }
                let led_to = [from.literals.get(token).copied(), from.any_one];
                led_to.into_iter().flatten().for_each(|node| self.reach(&mut next, node));
            }
            std::mem::swap(&mut at, &mut next);
            next.clear();
        }
        at.iter().flat_map(|node| &self.nodes[*node as usize].bindings).for_each(|binding| action(*binding));
    }

    /// Adds a node, and the one that no further token leads to.
    fn reach(&self, nodes: &mut SmallVec<[u32; 16]>, node: u32) {
        for node in [Some(node), self.nodes[node as usize].any].into_iter().flatten() {
            if !nodes.contains(&node) {
                nodes.push(node);
            }
        }
    }

    fn child(&self, node: u32, token: &Token) -> Option<u32> {
        let node = &self.nodes[node as usize];
        match token {
            Token::AnyOne => node.any_one,
            Token::Any => node.any,
            Token::Literal(literal) => node.literals.get(literal).copied(),
        }
    }

    fn child_or_new(&mut self, parent: u32, token: &Token) -> u32 {
        if let Some(child) = self.child(parent, token) {
            return child;
        }
        let child = self.nodes.len() as u32;
        self.nodes.push(Node { stays: *token == Token::Any, ..Node::default() });
        let parent = &mut self.nodes[parent as usize];
        match token {
            Token::AnyOne => parent.any_one = Some(child),
            Token::Any => parent.any = Some(child),
            Token::Literal(literal) => drop(parent.literals.insert(literal.clone(), child)),
        }
        child
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matching(method: MatchMethod, keys: &[&str], subject: &str) -> Vec<u32> {
        let mut tree = Keys::new(method);
        for (number, key) in keys.iter().enumerate() {
            tree.insert(&Key::parse(method, key).expect("a valid key"), number as u32);
        }
        let mut found = Vec::new();
        tree.each_match(subject, |binding| found.push(binding));
        found.sort_unstable();
        found
    }

    fn fits(method: MatchMethod, key: &str, subject: &str) -> bool {
        !matching(method, &[key], subject).is_empty()
    }

    #[test]
    fn an_amqp_key_matches_by_tokens_between_dots() {
        use MatchMethod::Amqp;
        for (key, subject) in [
            ("a.b", "a.b"),
            ("a.*", "a.b"),
            ("a.#", "a"),
            ("a.#", "a.b.c"),
            ("#", ""),
            ("#", "x.y"),
            ("#.b", "b"),
            ("a.#.c", "a.c"),
            ("a.#.b.*", "a.b.b.b.y"),
            (".#.*.policy", "some.policy"),
            (".#.*.policy", "/hi/there/.policy"),
            ("a/b.c", "a/b.c"),
            ("a.b", "a.b."),
        ] {
            assert!(fits(Amqp, key, subject), "{key} {subject}");
        }
        for (key, subject) in [
            ("a.b", "a.b.c"),
            ("a.*", "a"),
            ("a.*", "a.b.c"),
            ("a.#.c", "a.b"),
            (".#.*.policy", "policy"),
            ("a/+", "a/b"),
            ("a.b", "a..b"),
        ] {
            assert!(!fits(Amqp, key, subject), "{key} {subject}");
        }
    }

    #[test]
    fn an_mqtt_key_matches_by_levels_between_slashes() {
        use MatchMethod::Mqtt;
        for (key, subject) in [
            ("a/b", "a/b"),
            ("a/+", "a/b"),
            ("c/#", "c"),
            ("c/#", "c/b/dee/eee"),
            ("test/+/*/#", "test/?/*"),
            ("#", "x"),
        ] {
            assert!(fits(Mqtt, key, subject), "{key} {subject}");
        }
        for (key, subject) in [("a/+", "a"), ("a/+", "a/b/c"), ("a.b", "a/b"), ("test/+/*/#", "test/x/xxx"), ("a", "b")]
        {
            assert!(!fits(Mqtt, key, subject), "{key} {subject}");
        }
    }

    #[test]
    fn a_key_needs_a_token_and_that_of_mqtt_ends_with_its_hash() {
        assert_eq!(Key::parse(MatchMethod::Amqp, ""), None);
        assert_eq!(Key::parse(MatchMethod::Amqp, ".."), None);
        assert_eq!(Key::parse(MatchMethod::Mqtt, "x/#/z"), None);
        assert!(Key::parse(MatchMethod::Mqtt, "x/#").is_some());
        assert!(Key::parse(MatchMethod::Amqp, "x.#.z").is_some());
    }

    #[test]
    fn equal_keys_are_equal_however_written() {
        let key = |text| Key::parse(MatchMethod::Amqp, text);
        assert_eq!(key("a.#.*.#"), key("a.*.#"));
        assert_eq!(key("#.#"), key("#"));
    }

    #[test]
    fn every_key_that_fits_is_found_once() {
        let keys = ["a.#.b", "#.b", "#", "a.*", "a.b", "b.#", "*.#.*", "a.#.#.b"];
        assert_eq!(matching(MatchMethod::Amqp, &keys, "a.b"), [0, 1, 2, 3, 4, 6, 7]);
    }

    #[test]
    fn a_subject_without_end_fits_nothing() {
        let subject = "a.".repeat(MOST_TOKENS + 1);
        assert!(!fits(MatchMethod::Amqp, "#", &subject));
    }

    #[test]
    fn what_was_removed_does_not_match() {
        let key = Key::parse(MatchMethod::Amqp, "a.#").expect("valid");
        let mut tree = Keys::new(MatchMethod::Amqp);
        tree.insert(&key, 1);
        tree.insert(&key, 2);
        tree.remove(&key, 1);
        let mut found = Vec::new();
        tree.each_match("a", |binding| found.push(binding));
        assert_eq!(found, [2]);
    }

    /// Matching as it is defined, one key at a time.
    fn fits_by_definition(key: &[&str], subject: &[&str]) -> bool {
        match (key.split_first(), subject.split_first()) {
            (None, None) => true,
            (Some((&"#", rest)), _) if fits_by_definition(rest, subject) => true,
            (Some((&"#", _)), Some((_, others))) => fits_by_definition(key, others),
            (Some((first, rest)), Some((token, others))) if *first == "*" || first == token => {
                fits_by_definition(rest, others)
            }
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn the_tree_finds_what_the_definition_says(
            keys in prop::collection::vec(prop::collection::vec(prop::sample::select(vec!["a", "b", "*", "#"]), 1..5), 1..12),
            subject in prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 0..6),
        ) {
            let texts: Vec<String> = keys.iter().map(|key| key.join(".")).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let found = matching(MatchMethod::Amqp, &texts, &subject.join("."));
            let expected: Vec<u32> = (0..keys.len() as u32)
                .filter(|at| fits_by_definition(&keys[*at as usize], &subject))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
