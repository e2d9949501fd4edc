//! The JSON form, for files whose name ends in `.json`.

use super::reading::read_as;
use config::{Config, Source};

fn refusal(text: &str) -> String {
    let errors = read_as("router.json", text).expect_err("the file should be refused");
    assert_eq!(errors.problems.len(), 1, "{errors}");
    errors.problems[0].text.clone()
}

#[test]
fn sections_are_pairs_of_a_name_and_attributes() {
    let text = "# comment\n[\n  [\"router\", {\"id\": \"A\", \"workerThreads\": 2}],\n  [\"listener\", {\"port\": 5672, \"http\": false}]\n]\n";
    let config = read_as("router.json", text).unwrap();
    assert_eq!((config.router.id.as_deref(), config.router.worker_threads), (Some("A"), 2));
    assert_eq!(config.listeners().next().unwrap().1.port, "5672");
}

#[test]
fn a_hash_within_a_value_is_data() {
    let config = read_as("a.json", "[[\"address\", {\"pattern\": \"a/#\"}]]").unwrap();
    assert_eq!(config.addresses().next().unwrap().1.matches.as_str(), "a/#");
}

#[test]
fn the_place_of_a_mistake_is_part_of_its_text() {
    let text = refusal("[\n [\"router\", {id: \"A\"}]\n]");
    assert_eq!(text, "Expecting property name enclosed in double quotes: line 2 column 14 (char 15)");
}

#[test]
fn several_faulty_sections_are_all_told() {
    let errors = read_as("a.json", "[[\"router\", {1: 2}], [\"listener\", {3: 4}], [\"policy\", {}]]").unwrap_err();
    assert_eq!(errors.problems.len(), 2);
}

#[test]
fn what_is_no_list_of_sections_is_refused() {
    assert!(refusal("{}").starts_with("Expecting '['"));
    assert!(refusal("[[\"router\", {}]] x").starts_with("Extra data"));
}

#[test]
fn the_policy_directory_adds_vhosts() {
    let main = Source::new("router.conf", "policy {\n policyDir: /p\n}\nvhost {\n hostname: a\n}");
    let policies = [Source::new("/p/b.json", "[[\"vhost\", {\"hostname\": \"b\"}]]")];
    let config = Config::from_sources(&main, &mut |directory| {
        assert_eq!(directory, "/p");
        Ok(policies.to_vec())
    });
    let config = config.unwrap();
    assert_eq!(config.vhosts().map(|(_, vhost)| vhost.hostname.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn the_policy_directory_holds_nothing_but_vhosts() {
    let main = Source::new("router.conf", "policy {\n policyDir: /p\n}");
    let policies = [Source::new("/p/b.json", "[[\"listener\", {\"port\": 1}]]")];
    let errors = Config::from_sources(&main, &mut |_| Ok(policies.to_vec())).unwrap_err();
    let problem = &errors.problems[0];
    assert_eq!(problem.place.as_ref().unwrap().to_string(), "/p/b.json:1:4");
    assert_eq!(problem.text, "Policy files may only contain 'vhost', not 'listener'");
}

#[test]
fn a_policy_directory_that_cannot_be_read_is_told_where_it_is_named() {
    let main = Source::new("router.conf", "policy {\n policyDir: /p\n}");
    let errors = Config::from_sources(&main, &mut |_| Err("No such file or directory".into())).unwrap_err();
    assert_eq!(errors.problems[0].place.as_ref().unwrap().to_string(), "router.conf:2:13");
}
