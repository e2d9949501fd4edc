//! Management of other routers.

use amqp::DeliveryState;

use super::{outcome_of, three};
use crate::support::program::{qdmanage, qdstat};

// skupper-router#1049
#[test]
fn a_request_to_the_node_of_a_router_that_has_gone_is_released() {
    let [a, _b, mut c] = three();

    c.kill();
    a.loses("C");

    assert_eq!(outcome_of(&a, "_topo/0/C/$management", "x"), Some(DeliveryState::Released));
}

// skupper-router#1049
#[test]
fn tools_that_ask_a_router_that_has_gone_say_so() {
    let [a, _b, mut c] = three();
    let asked = qdmanage(a.port, &["query", "--type=router", "-r", "C"]);
    assert!(asked.status == 0 && asked.text.contains("\"C\""), "{}", asked.text);

    c.kill();
    a.loses("C");

    let asked = qdmanage(a.port, &["query", "--type=router", "-r", "C", "--timeout", "1"]);
    assert_eq!(asked.status, 1);
    assert!(!asked.text.trim().is_empty() && !asked.text.contains("\"A\""), "{}", asked.text);
    let asked = qdstat(a.port, &["-g", "-r", "C", "--timeout", "1"]);
    assert_eq!(asked.status, 1);
    assert!(!asked.text.trim().is_empty() && !asked.text.contains("Router Id"), "{}", asked.text);
}

// skupper-router#1049
#[test]
fn a_tool_that_asks_all_routers_gets_those_that_are_left() {
    let [a, _b, mut c] = three();

    c.kill();
    a.forgets("C");

    let asked = qdstat(a.port, &["-g", "--all-routers"]);
    assert_eq!(asked.status, 0, "{}", asked.text);
    assert_eq!(asked.text.matches("Router Id").count(), 2, "{}", asked.text);
}
