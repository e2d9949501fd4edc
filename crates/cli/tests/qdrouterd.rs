//! `qdrouterd`: its command line and how it ends.

mod support;

use support::{QDROUTERD, Scratch, run};

#[test]
fn the_version_is_that_of_the_old_program() {
    let done = run(QDROUTERD, "-v");
    assert_eq!((done.status, done.out.as_str()), (0, "1.19.0\n"));
}

#[test]
fn a_missing_configuration_is_told_as_the_old_program_tells_it() {
    let done = run(QDROUTERD, "-c /nosuch.conf -I /nosuch");
    assert_eq!(done.status, 1);
    assert!(
        done.err.contains("MAIN (critical) Router start-up failed: Not found: Configuration file could not be opened"),
        "{}",
        done.err
    );
    assert!(
        done.err.contains(&format!("{QDROUTERD}: Not found: Configuration file could not be opened\n")),
        "{}",
        done.err
    );
}

#[test]
fn a_wrong_configuration_is_told_with_its_place() {
    let config = Scratch::with("qdrouterd-wrong.conf", "router {\n mode: standalone\n nosuch: 1\n}\n");
    let done = run(QDROUTERD, &format!("-c {}", config.0.display()));
    assert_eq!(done.status, 1);
    let reason = format!("Exception: Cannot load configuration file {}: ", config.0.display());
    assert!(done.err.contains(&reason) && done.err.contains(&format!("{}:3:", config.0.display())), "{}", done.err);
}

#[test]
fn unknown_options_and_words_end_with_one() {
    let option = run(QDROUTERD, "--bad");
    assert_eq!((option.status, option.err), (1, format!("{QDROUTERD}: unrecognized option '--bad'\n")));
    let words = run(QDROUTERD, "a b");
    assert_eq!((words.status, words.err.as_str()), (1, "Unexpected arguments: a b\n\n"));
    assert!(words.out.starts_with(&format!("Usage: {QDROUTERD} [OPTIONS]\n")));
}
