//! Names: those with several addresses, those that nobody finds, and name servers that do not answer.

use super::*;
use std::io;
use std::net::SocketAddr;
use std::sync::mpsc;

/// Name servers of which one knows a name, one refuses one, and the others say nothing until the test ends their silence.
struct NameServers {
    /// What `many.example` stands for.
    many: Vec<SocketAddr>,
    /// Look-ups of other names end when this does.
    ended: std::sync::Mutex<mpsc::Receiver<()>>,
    asked: std::sync::atomic::AtomicUsize,
}

impl NameServers {
    fn find(&self, host: &str) -> io::Result<Vec<SocketAddr>> {
        match host {
            "many.example" => Ok(self.many.clone()),
            "nowhere.example" => Err(io::Error::other("Name or service not known")),
            _ => {
                self.asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                // Nothing is ever sent; one at a time waits here, the others for their turn to.
                let _ = self.ended.lock().unwrap().recv();
                Err(io::Error::other("it took too long"))
            }
        }
    }
}

/// A name server that knows these addresses; and what ends its silence about other names.
fn name_servers(many: Vec<SocketAddr>) -> (Resolver, Arc<NameServers>, mpsc::Sender<()>) {
    let (end, ended) = mpsc::channel();
    let servers = Arc::new(NameServers { many, ended: ended.into(), asked: Default::default() });
    let asked = Arc::clone(&servers);
    (Resolver::of(move |host, _| asked.find(host)), servers, end)
}

fn connector(name: &str, host: &str) -> String {
    format!("connector {{\n name: {name}\n host: {host}\n port: 5672\n role: route-container\n}}\n")
}

/// A connector's attribute.
fn shown(entities: &mut Entities, name: &str, attribute: &str) -> String {
    let rows = entities.list(type_of("connector"));
    let row = rows.iter().find(|row| row.text("name") == Some(name)).unwrap();
    row.text(attribute).unwrap_or_default().to_owned()
}

fn is_connected(entities: &mut Entities, name: &str) -> bool {
    shown(entities, name, "connectionStatus") == "SUCCESS"
}

/// A router that takes connections, and where.
async fn somebody() -> (Router, SocketAddr) {
    let port = free_port();
    let mut router = Router::start(&format!("listener {{\n host: 127.0.0.1\n port: {port}\n}}\n"));
    router.until_listening().await;
    (router, SocketAddr::from(([127, 0, 0, 1], port)))
}

/// Runs both routers until the condition holds of the first.
async fn until(router: &mut Router, other: &mut Router, mut condition: impl FnMut(&mut Entities) -> bool) {
    while !condition(&mut router.plane.entities) {
        tokio::select! {
            stepped = router.plane.step() => stepped.unwrap(),
            stepped = other.plane.step() => stepped.unwrap(),
        }
    }
}

#[tokio::test]
async fn a_connector_tries_all_addresses_of_a_name() {
    let (mut other, there) = somebody().await;
    let nobody = [SocketAddr::from(([127, 0, 0, 1], free_port())), SocketAddr::from(([127, 0, 0, 1], free_port()))];
    let (resolver, ..) = name_servers(vec![nobody[0], nobody[1], there]);
    let mut router = Router::resolving(&format!("{SILENT}{}", connector("to", "many.example")), resolver);
    until(&mut router, &mut other, |entities| is_connected(entities, "to")).await;
}

#[tokio::test]
async fn a_name_that_nobody_knows_is_told_of_and_looked_up_again() {
    let (mut other, there) = somebody().await;
    let known = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let later = Arc::clone(&known);
    let resolver = Resolver::of(move |_, _| match later.load(std::sync::atomic::Ordering::Relaxed) {
        true => Ok(vec![there]),
        false => Err(io::Error::other("Name or service not known")),
    });
    let connector = connector("to", "late.example").replace("route-container", "inter-router");
    let text = SILENT.replace("router {\n", "router {\n mode: interior\n");
    let mut router = Router::resolving(&format!("{text}{connector}"), resolver);
    let told = |entities: &mut Entities| shown(entities, "to", "connectionMsg").contains("Name or service not known");
    router.until(told).await;
    known.store(true, std::sync::atomic::Ordering::Relaxed);
    let was_found = |entities: &mut Entities| !told(entities);
    until(&mut router, &mut other, was_found).await;
}

#[tokio::test]
async fn name_servers_that_do_not_answer_hold_up_nobody_else() {
    let (mut other, there) = somebody().await;
    let (resolver, servers, end) = name_servers(vec![there]);
    // Two names, and one that is refused at once.
    let silent: String =
        (0..100).map(|at| connector(&format!("c{at}"), ["silent.example", "mute.example"][at % 2])).collect();
    let sections = silent + &connector("lost", "nowhere.example") + &connector("to", "many.example");
    let mut router = Router::resolving(&format!("{SILENT}{sections}"), resolver);
    until(&mut router, &mut other, |entities| is_connected(entities, "to")).await;
    assert_eq!(servers.asked.load(std::sync::atomic::Ordering::Relaxed), 2, "each name is asked for once");
    let port = free_port();
    router.create("listener", &[("host", "127.0.0.1"), ("port", &port.to_string())]).unwrap();
    until(&mut router, &mut other, |_| can_connect(port)).await;
    drop(end);
    let told = |entities: &mut Entities| shown(entities, "c99", "connectionMsg").contains("it took too long");
    until(&mut router, &mut other, told).await;
}
