//! Patterns of addresses, and the tree in which the one that fits best is found.
//!
//! Addresses and patterns are tokens between separators, `.` or `/`. In a pattern `*` is exactly one token and `#` any
//! number of them. Of several patterns that match, the best is decided token by token from the left: a literal before
//! `*`, `*` before `#`.

use std::collections::{BTreeMap, HashSet};

use smallvec::SmallVec;

type Tokens<'a> = SmallVec<[&'a str; 16]>;

/// Splits at every separator. Separators at either end do not count; one that follows another makes an empty token.
fn tokens(text: &str) -> Tokens<'_> {
    let text = text.trim_matches(['.', '/']);
    if text.is_empty() { Tokens::new() } else { text.split(['.', '/']).collect() }
}

/// A pattern in its one form: `#` comes after `*`, and never twice in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    tokens: Vec<Box<str>>,
}

impl Pattern {
    /// A pattern as written; `None` if there is nothing between its separators.
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_tokens(tokens(text))
    }

    /// The pattern for a prefix: it and all that follows it after a separator.
    pub(crate) fn parse_prefix(text: &str) -> Option<Self> {
        let mut tokens = tokens(text);
        if tokens.is_empty() {
            return None;
        }
        tokens.push("#");
        Self::from_tokens(tokens)
    }

    fn from_tokens(tokens: Tokens<'_>) -> Option<Self> {
        let mut normal: Vec<&str> = Vec::with_capacity(tokens.len());
        // A `#` waits until the `*`s that follow it have been written; a second `#` in that stretch adds nothing.
        let mut waiting = false;
        for token in tokens {
            match token {
                "#" => waiting = true,
                "*" => normal.push("*"),
                literal => {
                    if std::mem::take(&mut waiting) {
                        normal.push("#");
                    }
                    normal.push(literal);
                }
            }
        }
        if waiting {
            normal.push("#");
        }
        (!normal.is_empty()).then(|| Self { tokens: normal.into_iter().map(Box::from).collect() })
    }

    /// If the pattern is literals and a final `#`, the part of its text before that.
    pub(crate) fn prefix_of<'t>(&self, text: &'t str) -> Option<&'t str> {
        let (last, rest) = self.tokens.split_last()?;
        let plain = !rest.is_empty() && rest.iter().all(|token| !matches!(&**token, "*" | "#"));
        (&**last == "#" && plain).then(|| text.strip_suffix('#').unwrap_or(text).trim_end_matches(['.', '/']))
    }

    /// If normalising `text` changed more than its separators, the pattern as it is now.
    pub(crate) fn rewritten(&self, text: &str) -> Option<String> {
        let same = tokens(text).iter().copied().eq(self.tokens.iter().map(AsRef::as_ref));
        (!same).then(|| self.tokens.join("."))
    }
}

#[derive(Debug)]
struct Node<V> {
    literals: BTreeMap<Box<str>, usize>,
    star: Option<usize>,
    hash: Option<usize>,
    /// This node stands for `#` itself.
    is_hash: bool,
    value: Option<V>,
}

impl<V> Node<V> {
    fn new(is_hash: bool) -> Self {
        Self { literals: BTreeMap::new(), star: None, hash: None, is_hash, value: None }
    }

    fn is_idle(&self) -> bool {
        self.value.is_none() && self.literals.is_empty() && self.star.is_none() && self.hash.is_none()
    }
}

/// Values by pattern. A look-up costs about the number of tokens times the logarithm of the number of patterns.
#[derive(Debug)]
pub struct PatternTree<V> {
    nodes: Vec<Node<V>>,
    free: Vec<usize>,
}

impl<V> Default for PatternTree<V> {
    fn default() -> Self {
        Self { nodes: vec![Node::new(false)], free: Vec::new() }
    }
}

impl<V> PatternTree<V> {
    /// Adds a value. False, and nothing done, if the pattern has one.
    pub fn insert(&mut self, pattern: &Pattern, value: V) -> bool {
        let node = pattern.tokens.iter().fold(0, |node, token| self.child_or_new(node, token));
        if self.nodes[node].value.is_some() {
            return false;
        }
        self.nodes[node].value = Some(value);
        true
    }

    /// The value of exactly this pattern, made if there is none.
    pub(crate) fn value_mut(&mut self, pattern: &Pattern) -> &mut V
    where
        V: Default,
    {
        let node = pattern.tokens.iter().fold(0, |node, token| self.child_or_new(node, token));
        self.nodes[node].value.get_or_insert_with(V::default)
    }

    /// Removes the value of exactly this pattern, and the branches that nothing needs any more.
    pub fn remove(&mut self, pattern: &Pattern) -> Option<V> {
        let mut path = vec![0];
        for token in &pattern.tokens {
            path.push(self.child(path[path.len() - 1], token)?);
        }
        let value = self.nodes[path[path.len() - 1]].value.take()?;
        for (depth, token) in pattern.tokens.iter().enumerate().rev() {
            if !self.nodes[path[depth + 1]].is_idle() {
                break;
            }
            self.free.push(path[depth + 1]);
            let parent = &mut self.nodes[path[depth]];
            match token.as_ref() {
                "*" => parent.star = None,
                "#" => parent.hash = None,
                literal => drop(parent.literals.remove(literal)),
            }
        }
        Some(value)
    }

    /// The value of the pattern that fits `address` best.
    pub fn best(&self, address: &str) -> Option<&V> {
        self.search(address, || ())
    }

    /// The same; `visited` is called for each node looked at.
    #[inline]
    fn search(&self, address: &str, mut visited: impl FnMut()) -> Option<&V> {
        let tokens = tokens(address);
        // Alternatives not yet tried, the best last: a node, and how many tokens led to it.
        let mut open: SmallVec<[(usize, usize); 32]> = SmallVec::new();
        open.push((0, 0));
        // A `#` is met at the same token by many ways; whatever lies beyond is tried once.
        let mut failed: HashSet<(usize, usize), BuildPlain> = HashSet::default();
        while let Some((at, taken)) = open.pop() {
            visited();
            let node = &self.nodes[at];
            if node.is_hash && !failed.insert((at, taken)) {
                continue;
            }
            if let Some(hash) = node.hash {
                open.push((hash, taken));
            }
            let Some(token) = tokens.get(taken) else {
                if node.value.is_some() {
                    return node.value.as_ref();
                }
                continue;
            };
            if node.is_hash {
                open.push((at, taken + 1));
            }
            if let Some(star) = node.star {
                open.push((star, taken + 1));
            }
            if let Some(&literal) = node.literals.get(*token) {
                open.push((literal, taken + 1));
            }
        }
        None
    }

    fn child(&self, node: usize, token: &str) -> Option<usize> {
        let node = &self.nodes[node];
        match token {
            "*" => node.star,
            "#" => node.hash,
            literal => node.literals.get(literal).copied(),
        }
    }

    fn child_or_new(&mut self, parent: usize, token: &str) -> usize {
        if let Some(child) = self.child(parent, token) {
            return child;
        }
        let node = Node::new(token == "#");
        let child = match self.free.pop() {
            Some(free) => {
                self.nodes[free] = node;
                free
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        };
        let parent = &mut self.nodes[parent];
        match token {
            "*" => parent.star = Some(child),
            "#" => parent.hash = Some(child),
            literal => drop(parent.literals.insert(literal.into(), child)),
        }
        child
    }
}

/// Hashing without a random key: what is hashed are small numbers that no peer chooses.
type BuildPlain = std::hash::BuildHasherDefault<std::hash::DefaultHasher>;

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
