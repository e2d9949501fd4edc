use super::*;

fn tree(patterns: &[&'static str]) -> PatternTree<&'static str> {
    let mut tree = PatternTree::default();
    for text in patterns {
        tree.insert(&Pattern::parse(text).unwrap(), *text);
    }
    tree
}

fn best(patterns: &[&'static str], address: &str) -> Option<&'static str> {
    tree(patterns).best(address).copied()
}

#[test]
fn a_star_is_exactly_one_token() {
    let found: Vec<_> = ["a.x.b", "a/x/b/", "..a.x.b..", "a..b", "a.b", "a.x.y.b"]
        .map(|address| best(&["a.*.b"], address).is_some())
        .into();
    assert_eq!(found, [true, true, true, true, false, false]);
}

#[test]
fn a_hash_is_any_number_of_tokens() {
    let found: Vec<_> =
        ["a.b", "a.x.b", "a.x.y/b", "a.b.b", "a", "a.x"].map(|address| best(&["a/#/b"], address).is_some()).into();
    assert_eq!(found, [true, true, true, true, false, false]);
}

#[test]
fn a_hash_in_front_matches_from_the_first_token_on() {
    let found: Vec<_> = ["a", "x.a", "x.y.a", "a.x"].map(|address| best(&["#.a"], address).is_some()).into();
    assert_eq!(found, [true, true, true, false]);
}

#[test]
fn a_wildcard_within_a_token_is_literal() {
    assert_eq!((best(&["foo*"], "foox"), best(&["foo*"], "foo*")), (None, Some("foo*")));
}

#[test]
fn a_literal_beats_a_star_and_a_star_beats_a_hash() {
    let patterns = ["a.#", "a.*", "a.b"];
    let found = ["a.b", "a.c", "a.c.d", "a"].map(|address| best(&patterns, address).unwrap());
    assert_eq!(found, ["a.b", "a.*", "a.#", "a.#"]);
}

#[test]
fn the_leftmost_token_decides() {
    assert_eq!(best(&["a.*.z", "a.y.#"], "a.y.z"), Some("a.y.#"));
}

#[test]
fn a_literal_that_leads_nowhere_is_given_up_for_a_star() {
    assert_eq!(best(&["a.*.c", "a.b.d"], "a.b.c"), Some("a.*.c"));
}

#[test]
fn behind_a_hash_the_longer_rest_is_preferred() {
    let patterns = ["a.#.x", "a.#.y.x"];
    let found = ["a.y.x", "a.z.y.x", "a.x", "a.x.x"].map(|address| best(&patterns, address).unwrap());
    assert_eq!(found, ["a.#.y.x", "a.#.y.x", "a.#.x", "a.#.x"]);
}

#[test]
fn the_order_of_insertion_does_not_matter() {
    assert_eq!(best(&["a.b", "a.*", "a.#"], "a.b"), best(&["a.#", "a.*", "a.b"], "a.b"));
}

#[test]
fn a_prefix_matches_itself_and_what_follows_a_separator() {
    let mut tree = PatternTree::default();
    tree.insert(&Pattern::parse_prefix("a/b.").unwrap(), ());
    let found = ["a.b", "a/b/c", "a.b.c.d", "a.bc", "a"].map(|address| tree.best(address).is_some());
    assert_eq!(found, [true, true, true, false, false]);
}

#[test]
fn patterns_are_brought_into_one_form() {
    let rewritten = |text| Pattern::parse(text).unwrap().rewritten(text);
    assert_eq!(rewritten("t.#.*.#.#").as_deref(), Some("t.*.#"));
    assert_eq!(rewritten("#/#").as_deref(), Some("#"));
    assert_eq!(rewritten("#.*.*.a").as_deref(), Some("*.*.#.a"));
    assert_eq!(rewritten("/a/*/#"), None);
}

#[test]
fn a_pattern_without_tokens_is_none() {
    assert_eq!((Pattern::parse("./."), Pattern::parse_prefix("")), (None, None));
}

#[test]
fn equal_patterns_conflict_whatever_their_separators() {
    let mut tree = tree(&["a.b.#"]);
    assert!(!tree.insert(&Pattern::parse_prefix("a/b").unwrap(), "second"));
}

#[test]
fn removing_a_pattern_leaves_the_others_and_no_branches() {
    let mut tree = tree(&["a.b.c", "a.b"]);
    assert_eq!(tree.remove(&Pattern::parse("a.b.c").unwrap()), Some("a.b.c"));
    assert_eq!((tree.best("a.b.c"), tree.best("a.b"), tree.free.len()), (None, Some(&"a.b"), 1));
}

#[test]
fn ten_thousand_patterns_are_told_apart() {
    let mut tree = PatternTree::default();
    for number in 0..10_000 {
        tree.insert(&Pattern::parse_prefix(&format!("tenant{number}.queue")).unwrap(), number);
    }
    assert_eq!(tree.best("tenant7777/queue/x"), Some(&7777));
}

#[test]
fn an_address_made_to_be_slow_is_not() {
    // Without remembering what failed this would take longer than anyone waits.
    let pattern = "a.#.b.#.b.#.b.#.b.#.b.#.b.#.c";
    let address = format!("a{}", ".b".repeat(2_000));
    assert_eq!(best(&[pattern], &address), None);
}

mod against_a_plain_matcher {
    use proptest::prelude::*;

    use super::super::*;

    /// Says whether a pattern matches, in the most obvious way.
    fn matches(pattern: &[&str], address: &[&str]) -> bool {
        match (pattern.first(), address.first()) {
            (None, None) => true,
            (Some(&"#"), _) => (0..=address.len()).any(|skip| matches(&pattern[1..], &address[skip..])),
            (Some(&"*"), Some(_)) => matches(&pattern[1..], &address[1..]),
            (Some(&literal), Some(&token)) if literal == token => matches(&pattern[1..], &address[1..]),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn the_tree_finds_something_exactly_if_a_pattern_matches(
            patterns in prop::collection::vec("[ab*#](\\.[ab*#]){0,4}", 1..8),
            address in "[ab](\\.[ab]){0,5}",
        ) {
            let mut tree = PatternTree::default();
            for text in &patterns {
                tree.insert(&Pattern::parse(text).unwrap(), text.clone());
            }
            let tokens: Vec<_> = address.split('.').collect();
            let expected = patterns.iter().any(|text| matches(&text.split('.').collect::<Vec<_>>(), &tokens));
            let found = tree.best(&address);
            prop_assert_eq!(found.is_some(), expected);
            if let Some(found) = found {
                prop_assert!(matches(&found.split('.').collect::<Vec<_>>(), &tokens));
            }
        }

        #[test]
        fn what_was_inserted_can_be_removed_and_leaves_nothing(
            patterns in prop::collection::vec("[ab*#](\\.[ab*#]){0,4}", 1..12),
        ) {
            let mut tree = PatternTree::default();
            let parsed: Vec<_> = patterns.iter().map(|text| Pattern::parse(text).unwrap()).collect();
            let inserted: Vec<_> = parsed.iter().filter(|pattern| tree.insert(pattern, ())).collect();
            for pattern in inserted {
                prop_assert_eq!(tree.remove(pattern), Some(()));
            }
            prop_assert_eq!(tree.free.len() + 1, tree.nodes.len());
        }
    }
}

#[test]
fn a_look_up_among_ten_thousand_patterns_looks_at_no_more_nodes_than_among_ten() {
    let visits = |count: usize| {
        let mut tree = PatternTree::default();
        for number in 0..count {
            for text in [format!("tenant{number}.queue.#"), format!("*.topic{number}.*"), format!("q{number}")] {
                tree.insert(&Pattern::parse(&text).unwrap(), number);
            }
        }
        ["tenant7.queue.a.b", "x.topic3.y", "q9", "nothing.of.that"].map(|address| {
            let mut visited = 0;
            tree.search(address, || visited += 1);
            visited
        })
    };
    assert_eq!(visits(10), visits(10_000));
}
