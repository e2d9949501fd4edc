//! Health, metrics, and files.

use super::*;

/// A folder that is removed afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("waystation-http-{:x}", identity::random()));
        std::fs::create_dir_all(folder.join("root/sub")).unwrap();
        std::fs::write(folder.join("secret.txt"), "secret").unwrap();
        std::fs::write(folder.join("root/a file.txt"), "HTTP test\n").unwrap();
        std::fs::write(folder.join("root/data.json"), "{}").unwrap();
        std::fs::write(folder.join("root/index.html"), "<p>start").unwrap();
        std::fs::write(folder.join("root/sub/index.html"), "<p>below").unwrap();
        std::os::unix::fs::symlink("../secret.txt", folder.join("root/way-out.txt")).unwrap();
        std::os::unix::fs::symlink("data.json", folder.join("root/other.json")).unwrap();
        nix::unistd::mkfifo(&folder.join("root/pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        Self(folder)
    }

    fn listener(&self) -> String {
        format!(" httpRootDir: {}\n", self.0.join("root").display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn is(answer: &(String, String), status: &str, body: &str) -> bool {
    answer.0.starts_with(&format!("HTTP/1.1 {status} ")) && answer.1 == body
}

#[tokio::test]
async fn files_of_the_folder_are_served() {
    let folder = Folder::new();
    let (mut router, port) = router(&folder.listener(), "").await;
    assert!(is(&router.get(port, "/a%20file.txt").await, "200", "HTTP test\n"));
    assert!(is(&router.get(port, "/").await, "200", "<p>start"));
    assert!(is(&router.get(port, "/sub/").await, "200", "<p>below"));
    assert!(is(&router.get(port, "/other.json?query").await, "200", "{}"));
    let (head, _) = router.get(port, "/data.json").await;
    assert!(head.contains("content-type: application/json"), "{head}");
    let (head, _) = router.get(port, "/sub").await;
    assert!(head.starts_with("HTTP/1.1 301 ") && head.contains("location: /sub/"), "{head}");
}

#[tokio::test]
async fn nothing_outside_of_the_folder_is_served_and_nothing_but_files() {
    let folder = Folder::new();
    let (mut router, port) = router(&folder.listener(), "").await;
    for path in
        ["/../secret.txt", "/%2e%2e/secret.txt", "/sub/../../secret.txt", "/way-out.txt", "/pipe", "/nosuch", "//"]
    {
        let answer = router.get(port, path).await;
        assert!(!answer.1.contains("secret"), "{path}");
        assert!(answer.0.starts_with("HTTP/1.1 404 ") || path == "//", "{path}: {}", answer.0);
    }
}

#[tokio::test]
async fn a_file_that_is_known_is_not_sent_again() {
    let folder = Folder::new();
    let (mut router, port) = router(&folder.listener(), "").await;
    let (head, _) = router.get(port, "/data.json").await;
    let tag = head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
    let request = format!("GET /data.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\nIf-None-Match: {tag}\r\n\r\n");
    let answer = router.meanwhile(move || exchange(port, request.as_bytes())).await;
    assert!(answer.starts_with("HTTP/1.1 304 "), "{answer}");
}

#[tokio::test]
async fn without_a_folder_the_console_is_served() {
    let (mut router, port) = router(" http: yes\n", "").await;
    let (head, body) = router.get(port, "/").await;
    assert!(
        head.starts_with("HTTP/1.1 200 ") && head.contains("content-security-policy: default-src 'self'"),
        "{head}"
    );
    assert!(body.starts_with("<!doctype html>") || body.starts_with("<!DOCTYPE html>"), "{body}");
    let (head, script) = router.get(port, "/assets/console.js").await;
    assert!(head.contains("content-type: text/javascript") && !script.is_empty(), "{head}");
    let (head, _) = router.get(port, "/assets/../index.html").await;
    assert!(head.starts_with("HTTP/1.1 404 "), "{head}");
}

#[tokio::test]
async fn only_get_and_head_are_answered() {
    let (mut router, port) = router(" http: yes\n", "").await;
    let head = router.meanwhile(move || exchange(port, &request("HEAD", "/healthz"))).await;
    assert!(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"), "{head}");
    let post = router.meanwhile(move || exchange(port, &request("POST", "/healthz"))).await;
    assert!(post.starts_with("HTTP/1.1 405 "), "{post}");
}

#[tokio::test]
async fn what_is_not_http_is_turned_away() {
    let (mut router, port) = router(" http: yes\n", "").await;
    let answer = router.meanwhile(move || exchange(port, b"AMQP\0\x01\0\0\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    let long = [b"GET /".to_vec(), vec![b'x'; 100_000], b" HTTP/1.1\r\n\r\n".to_vec()].concat();
    let answer = router.meanwhile(move || exchange(port, &long)).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
}

#[tokio::test]
async fn a_router_that_does_all_it_should_is_well() {
    let (mut router, port) = router(" http: yes\n", "").await;
    for path in ["/healthz", "/healthz/live", "/healthz/ready"] {
        assert!(is(&router.get(port, path).await, "200", "OK\n"), "{path}");
    }
}

#[tokio::test]
async fn a_listener_that_cannot_listen_is_named() {
    let occupied = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = occupied.local_addr().unwrap().port();
    let (mut router, port) = router(" http: yes\n", "").await;
    router.create("listener", &[("host", "127.0.0.1"), ("port", &taken.to_string())]).unwrap();
    router.until(|entities| entities.listeners.iter().any(|listener| listener.has_failed())).await;
    let (head, body) = router.get(port, "/healthz").await;
    assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
    assert_eq!(body, format!("listener 127.0.0.1:{taken} cannot listen: the log says why\n"));
    assert!(is(&router.get(port, "/healthz/live").await, "200", "OK\n"));
}

#[tokio::test]
async fn a_listener_created_on_a_port_in_use_listens_when_the_port_is_free() {
    let occupied = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = occupied.local_addr().unwrap().port();
    let (mut router, port) = router(" http: yes\n", "").await;
    router.create("listener", &[("host", "127.0.0.1"), ("port", &taken.to_string())]).unwrap();
    router.until(|entities| entities.listeners.iter().any(|listener| listener.has_failed())).await;
    drop(occupied);
    router.until(|entities| entities.listeners.iter().all(|listener| !listener.has_failed())).await;
    assert!(is(&router.get(port, "/healthz").await, "200", "OK\n"));
}

#[tokio::test]
async fn a_router_without_its_network_lives_and_is_not_ready() {
    let nobody = free_port();
    let port = free_port();
    let mut router = Router::from_text(&format!(
        "router {{\n id: A\n mode: interior\n}}\nlog {{\n module: DEFAULT\n enable: none\n}}\nlistener {{\n host: \
         127.0.0.1\n port: {port}\n http: yes\n}}\nconnector {{\n host: 127.0.0.1\n port: {nobody}\n role: \
         inter-router\n}}\n"
    ));
    router.until_listening().await;
    assert!(is(&router.get(port, "/healthz").await, "200", "OK\n"));
    let (head, body) = router.get(port, "/healthz/ready").await;
    assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
    assert!(body.starts_with(&format!("not connected to the network, connector 127.0.0.1:{nobody}")), "{body}");
}

#[tokio::test]
async fn the_old_routers_metrics_have_their_names() {
    let (mut router, port) = router(" http: yes\n", "").await;
    let (head, body) = router.get(port, "/metrics").await;
    assert!(head.contains("content-type: text/plain"), "{head}");
    for name in ["connections", "deliveries_ingress", "deliveries_delayed_10sec", "deliveries_redirected_to_fallback"] {
        assert!(body.contains(&format!("\nqdr_{name}_total 0\n")), "{name}");
    }
    assert!(body.contains("\nqdr_addresses_total 4\n"), "{body}");
}

#[tokio::test]
async fn what_a_listener_switches_off_is_not_there() {
    let (mut router, port) = router(" http: yes\n healthz: no\n metrics: no\n", "").await;
    for path in ["/healthz", "/metrics"] {
        let (head, _) = router.get(port, path).await;
        assert!(head.starts_with("HTTP/1.1 404 "), "{path}: {head}");
    }
}

#[tokio::test]
async fn a_deleted_http_listener_is_gone_and_the_others_stay() {
    let other = free_port();
    let (mut router, port) =
        router(" http: yes\n", &format!("listener {{\n host: 127.0.0.1\n port: {other}\n http: yes\n}}\n")).await;
    // One that was served already, and could ask again.
    let idle = socket(port);
    router.get(port, "/healthz").await;
    router.delete_web();
    router
        .meanwhile(move || {
            let start = std::time::Instant::now();
            while can_connect(port) {
                assert!(start.elapsed() < PATIENCE, "it still listens");
                std::thread::sleep(Duration::from_millis(2));
            }
            let mut nothing = Vec::new();
            let mut idle = idle;
            let _ = idle.read_to_end(&mut nothing);
        })
        .await;
    assert!(is(&router.get(other, "/healthz").await, "200", "OK\n"));
}

#[tokio::test]
async fn a_port_chosen_by_the_system_and_ipv6_serve_http_too() {
    let mut router = Router::start("listener {\n host: ::1\n port: 0\n http: yes\n}\n");
    router.until_listening().await;
    let address = router.plane.entities.listeners.listening_on()[0].clone();
    let answer = router
        .meanwhile(move || {
            let mut socket = TcpStream::connect(address).unwrap();
            socket.write_all(&request("GET", "/healthz")).unwrap();
            let mut answer = String::new();
            socket.read_to_string(&mut answer).unwrap();
            answer
        })
        .await;
    assert!(answer.ends_with("OK\n"), "{answer}");
}
