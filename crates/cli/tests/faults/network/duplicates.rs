//! Two routers of one id.

use super::{pass, receiver, sender};
use crate::support::interior::Interior;
use crate::support::wait_for;

/// The instances that a line of the log names.
fn instances(line: &str) -> Vec<&str> {
    let parts = line.split("instance=").skip(1);
    parts.map(|part| part.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default()).collect()
}

/// Waits for the second of the clock after that in which a router has started: then the instance is another.
fn another_second(router: &Interior) {
    let begun = router.instance();
    wait_for("another second", || {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is after 1970");
        (now.as_secs() as i64 > begun).then_some(())
    });
}

#[test]
fn a_second_router_of_the_same_id_is_refused_with_a_line_that_names_both_and_the_first_goes_on() {
    let mut hub = Interior::start("HUB", &[]);
    let first = Interior::start("TWIN", &[(&hub, 1)]);
    hub.reaches(&["TWIN"]);
    let (mut receiver_there, _) = receiver(&first, "a", 10);
    hub.knows("a", 0, 1);
    another_second(&first);

    let second = Interior::start("TWIN", &[(&hub, 1)]);

    let line = hub.wait_for_log("Duplicate ID - TWIN", |line| line.contains("refused"));
    let named = instances(&line);
    assert_eq!(named, [&first, &second].map(|router| router.instance().to_string()), "{line}");
    assert!(line.contains("ROUTER_HELLO (critical)"), "{line}");
    let (_refused, _) = receiver(&second, "b", 10);
    let (mut sender, to) = sender(&hub, "a");
    pass(&mut sender, to, &mut receiver_there, "for the first");
    hub.knows("b", 0, 0);
}

#[test]
fn a_router_of_the_same_id_as_its_neighbour_is_refused_by_it() {
    let mut first = Interior::start("TWIN", &[]);
    another_second(&first);

    let second = Interior::start("TWIN", &[(&first, 1)]);

    let line = first.wait_for_log("Duplicate ID - TWIN", |line| line.contains("refused"));
    assert_eq!(instances(&line), [&first, &second].map(|router| router.instance().to_string()), "{line}");
    assert_eq!(first.management().query("router.node").len(), 1);
}

#[test]
fn a_router_takes_the_place_of_one_of_the_same_id_that_has_gone() {
    let mut hub = Interior::start("HUB", &[]);
    let mut first = Interior::start("TWIN", &[(&hub, 1)]);
    hub.reaches(&["TWIN"]);
    another_second(&first);
    let second = Interior::start("TWIN", &[(&hub, 1)]);
    hub.wait_for_log("Duplicate ID - TWIN", |line| line.contains("refused"));
    let (mut receiver, _) = receiver(&second, "a", 10);

    first.kill();

    hub.knows("a", 0, 1);
    let (mut sender, to) = sender(&hub, "a");
    pass(&mut sender, to, &mut receiver, "for the second");
}
