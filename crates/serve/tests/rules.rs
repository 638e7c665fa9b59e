//! What the server answers, and to whom: asked without a network.
//!
//! Invariant (page and server): The server only reads, under its own name, with its token, inside its folder.

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, Response, StatusCode, header};
use latlab_serve::{Limits, Setup, router};
use latlab_store::Store;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tower::ServiceExt;

const TOKEN: &str = "0123456789abcdefghij";

/// The id of the run of these tests.
#[derive(Clone, Copy)]
struct RunId;

const RUN: RunId = RunId;

impl std::fmt::Display for RunId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut runs = fs::read_dir(fixtures().join("runs")).unwrap();
        let id = runs.find_map(|run| {
            let name = run.unwrap().file_name().into_string().unwrap();
            name.ends_with("_sampled").then_some(name)
        });
        f.write_str(&id.expect("a stored run"))
    }
}

/// Log output of the servers in these tests.
static LOGGED: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/schema-1")
}

fn copy_run(to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(fixtures().join("runs").join(RUN.to_string())).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// A folder with a good run, a damaged one, an interrupted one, a link, and something else.
fn folder() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    copy_run(&root.path().join("runs").join(RUN.to_string()));
    let runs = root.path().join("runs");
    let damaged = runs.join("20261121T234351Z_damaged");
    copy_run(&damaged);
    let text = fs::read_to_string(damaged.join("run.json")).unwrap();
    fs::write(
        damaged.join("run.json"),
        text.replace("\"recovered\": false", "\"recovered\": true"),
    )
    .unwrap();
    let partial = runs.join(".20261121T234352Z_stream-3.partial");
    fs::create_dir(&partial).unwrap();
    let cut = fs::read_dir(fixtures().join("cut")).unwrap().next().unwrap().unwrap();
    fs::copy(cut.path().join("journal"), partial.join("journal")).unwrap();
    copy_run(&root.path().join("elsewhere"));
    symlink(root.path().join("elsewhere"), runs.join("20261121T234353Z_link")).unwrap();
    fs::create_dir(runs.join("lost+found")).unwrap();
    fs::write(runs.join(".secret"), "secret").unwrap();
    fs::write(root.path().join("secret"), "secret").unwrap();
    root
}

fn server(root: &Path, address: &str, token: Option<&str>) -> Router {
    let setup = Setup {
        store: Store::new(root.join("runs")),
        token: token.map(|token| token.parse().unwrap()),
        hostname: "board".to_string(),
        limits: Limits::for_open_files(64).unwrap(),
        log: |text| LOGGED.lock().unwrap().push(text.to_string()),
    };
    router(setup, address.parse().unwrap())
}

fn answer(router: &Router, request: Request<Body>) -> (Response<()>, String) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let response = router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, 1 << 24).await.unwrap();
        (Response::from_parts(parts, ()), String::from_utf8_lossy(&body).into_owned())
    })
}

fn ask(path: &str) -> axum::http::request::Builder {
    Request::get(path).header(header::HOST, "localhost:8137")
}

fn get(router: &Router, path: &str) -> (StatusCode, String) {
    let (response, body) = answer(router, ask(path).body(Body::empty()).unwrap());
    (response.status(), body)
}

#[test]
fn every_run_is_listed_with_its_state_and_nothing_else_is() {
    let root = folder();
    let server = server(root.path(), "127.0.0.1:8137", None);
    let (status, list) = get(&server, "/");
    assert_eq!(status, StatusCode::OK);
    for text in [
        "4 of 4 runs",
        "sampled</a>",
        "wrong checksum",
        "interrupted;",
        "link to outside the folder",
    ] {
        assert!(list.contains(text), "{text}: {list}");
    }
    assert!(!list.contains("lost+found") && !list.contains("secret"), "{list}");
    let (_, list) = get(&server, "/?q=SAMPLED+vm&verdict=pass");
    assert!(list.contains("1 of 4 runs match"), "{list}");
    let (_, list) = get(&server, "/?q=%3Cscript%3E&verdict=");
    assert!(list.contains("0 of 4 runs match") && !list.contains("<script>"), "{list}");
    // Viewing has finished or changed nothing.
    assert!(root.path().join("runs/.20261121T234352Z_stream-3.partial/journal").exists());
}

/// A campaign of one row, with a run that fills no cell of it, and one that cannot be read.
fn add_campaigns(root: &Path) -> String {
    let plan = latlab_model::Plan::default();
    let row = serde_json::json!({
        "label": "idle", "scenario": "idle", "about": null, "settings": {}, "kernel": null,
        "left_out": null, "plan": plan,
    });
    let campaign = serde_json::json!({
        "schema": 1, "latlab": "0", "id": "", "name": "night", "about": "Is <it> good?",
        "begun": "", "repeats": 1, "order": "sequential", "seed": 1, "retries": 1,
        "cool_down": { "pause_ns": 0, "below_millicelsius": null, "limit_ns": 0 }, "cpus": 1,
        "rows": [row], "runs": [{ "row": 0, "repeat": 1, "seed": 1 }],
    });
    let store = Store::new(root.join("runs"));
    let made = store.begin_campaign(serde_json::from_value(campaign).unwrap(), "").unwrap();
    copy_run(&made.runs().root().join(RUN.to_string()));
    let damaged = root.join("runs/20261121T000000Z_broken");
    fs::create_dir(&damaged).unwrap();
    fs::write(damaged.join("campaign.json"), "{}").unwrap();
    made.campaign.id
}

#[test]
fn campaigns_are_listed_and_lead_to_their_pages_and_runs() {
    let root = folder();
    let id = add_campaigns(root.path());
    let server = server(root.path(), "127.0.0.1:8137", None);
    let (status, list) = get(&server, "/");
    assert_eq!(status, StatusCode::OK);
    let link = format!("href=\"/campaigns/{id}\">night</a>");
    for text in [&link, "0 of 1 measured", "Is &lt;it&gt; good?", "cannot be read", "4 of 4 runs"] {
        assert!(list.contains(text), "{text}: {list}");
    }
    let (_, list) = get(&server, "/?q=nothing+like+it&verdict=");
    assert!(!list.contains("/campaigns/"), "{list}");
    let (status, page) = get(&server, &format!("/campaigns/{id}"));
    assert!(status == StatusCode::OK && page.contains("<main class=\"campaign\""), "{status}");
    let (status, page) = get(&server, &format!("/campaigns/{id}/runs/{RUN}"));
    assert!(status == StatusCode::OK && page.contains(&RUN.to_string()), "{status}");
    let (status, svg) = get(&server, &format!("/campaigns/{id}/runs/{RUN}/flow.svg"));
    assert!(status == StatusCode::OK && svg.starts_with("<svg"), "{status}");
    for path in ["/campaigns/none", "/campaigns/..", "/campaigns/%2e%2e/runs/x"] {
        assert_eq!(get(&server, path).0, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(get(&server, &format!("/campaigns/{id}/runs/none")).0, StatusCode::NOT_FOUND);
    let (status, text) = get(&server, "/campaigns/20261121T000000Z_broken");
    assert!(status == StatusCode::INTERNAL_SERVER_ERROR && text.contains("broken"), "{text}");
    // One that goes on elsewhere is read anew.
    fs::remove_dir_all(root.path().join("runs").join(&id).join("runs").join(RUN.to_string()))
        .unwrap();
    assert_eq!(get(&server, &format!("/campaigns/{id}")).0, StatusCode::OK);
}

#[test]
fn runs_are_chosen_and_compared_also_those_of_campaigns() {
    let root = folder();
    let id = add_campaigns(root.path());
    let other = root.path().join("runs/20261121T234358Z_other");
    copy_run(&other);
    let text = fs::read_to_string(other.join("run.json")).unwrap();
    fs::write(other.join("run.json"), text.replace(&RUN.to_string(), "20261121T234358Z_other"))
        .unwrap();
    let router = server(root.path(), "127.0.0.1:8137", None);
    let (_, list) = get(&router, "/");
    assert!(list.contains("action=\"/compare\""), "{list}");
    assert!(list.contains(&format!("type=\"checkbox\" name=\"run\" value=\"{RUN}\"")), "{list}");
    let verdict = list.find("data-head=\"verdict\"").unwrap();
    assert!(verdict < list.find("data-head=\"max\"").unwrap(), "the verdict comes first");
    let (status, runs) = get(&router, &format!("/campaigns/{id}/runs"));
    assert_eq!(status, StatusCode::OK);
    let value = format!("value=\"{id}/");
    let chosen = runs.split_once(&value).unwrap().1.split_once('"').unwrap().0;
    let address = format!("/compare?run={RUN}&run={id}%2F{chosen}");
    let (status, page) = get(&router, &address);
    assert_eq!(status, StatusCode::OK, "{page}");
    assert!(page.contains("id=\"comparison\"") && page.contains("id=\"run-2\""));
    for (address, why) in [
        (format!("/compare?run={RUN}&run={RUN}"), "choose 2 to 16 runs to compare; 1 chosen"),
        ("/compare".to_string(), "choose 2 to 16 runs to compare; 0 chosen"),
    ] {
        let (status, said) = get(&router, &address);
        assert_eq!((status, said.trim()), (StatusCode::BAD_REQUEST, why));
    }
    for run in ["..", "nothing", "../../secret", "x/../../y", "/etc"] {
        assert_eq!(
            get(&router, &format!("/compare?run={RUN}&run={run}")).0,
            StatusCode::NOT_FOUND,
            "{run}"
        );
    }
}

#[test]
fn a_campaign_that_is_a_link_to_elsewhere_is_not_followed() {
    let root = folder();
    let id = add_campaigns(root.path());
    let (inside, outside) = (root.path().join("runs").join(&id), root.path().join("campaign"));
    fs::rename(&inside, &outside).unwrap();
    symlink(&outside, &inside).unwrap();
    let server = server(root.path(), "127.0.0.1:8137", None);
    for path in [format!("/campaigns/{id}"), format!("/campaigns/{id}/runs/{RUN}")] {
        let (status, text) = get(&server, &path);
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR, "{path}");
        assert!(text.contains("link to outside"), "{text}");
    }
}

#[test]
fn a_run_is_a_page_a_document_and_pictures() {
    let root = folder();
    let server = server(root.path(), "127.0.0.1:8137", None);
    let folder = root.path().join("runs").join(RUN.to_string());
    let (status, page) = get(&server, &format!("/runs/{RUN}"));
    assert_eq!(
        (status, page),
        (
            StatusCode::OK,
            latlab_report::stored::page(
                &[latlab_report::stored::LoadedRun::read(&folder).unwrap()]
            )
        )
    );
    let (_, json) = get(&server, &format!("/runs/{RUN}/run.json"));
    assert_eq!(json, fs::read_to_string(folder.join("run.json")).unwrap());
    for kind in ["latency", "tail", "cdf", "ccdf", "cpus", "flow", "heatmap", "telemetry"] {
        let (status, svg) = get(&server, &format!("/runs/{RUN}/{kind}.svg"));
        assert!(status == StatusCode::OK && svg.starts_with("<svg"), "{kind}: {status}");
    }
    // A document that has changed since is read again.
    fs::write(folder.join("run.json"), "{}").unwrap();
    let (status, _) = get(&server, &format!("/runs/{RUN}"));
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let root = folder();
    let server = server(root.path(), "127.0.0.1:8137", None);
    for path in [
        "/runs/..",
        "/runs/%2e%2e",
        "/runs/..%2f..%2fsecret",
        "/runs/.secret",
        "/runs/%2fetc%2fpasswd",
        &format!("/runs/{RUN}%2f"),
        &format!("/runs/{RUN}/..%2frun.json"),
        &format!("/runs/{RUN}/snapshot.json"),
        &format!("/runs/{RUN}/%00"),
        "/runs/%00",
        "/runs/%ff",
        "/runs/lost+found",
        "/runs/.20261121T234352Z_stream-3.partial",
        "/runs/",
        "//etc/passwd",
        "/live/..",
        "/live/nothing/events",
        "/assets/..%2fpages.css",
        "/assets/.secret",
    ] {
        let (status, body) = get(&server, path);
        assert!([400, 404].contains(&status.as_u16()), "{path}: {status}: {body}");
        assert!(!body.contains("secret") && body.len() < 200, "{path}: {body}");
    }
    let (status, body) = get(&server, "/runs/20261121T234353Z_link");
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR, "{body}");
}

#[test]
fn only_reading_is_allowed_and_only_under_an_own_name() {
    let root = folder();
    let local = server(root.path(), "127.0.0.1:8137", None);
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        let request = Request::builder().method(method).uri("/").header(header::HOST, "localhost");
        let (response, _) = answer(&local, request.body(Body::empty()).unwrap());
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED, "{method}");
    }
    let under = |router: &Router, host: &str| {
        let request = Request::head("/").header(header::HOST, host);
        answer(router, request.body(Body::empty()).unwrap()).0.status().as_u16()
    };
    for host in ["localhost", "LOCALHOST:99", "127.0.0.1:8137", "[::1]:8137", "[::1]"] {
        assert_eq!(under(&local, host), 200, "{host}");
    }
    for host in ["evil.example", "localhost.evil.example", "board", "10.0.0.1", "", "localhost:x"] {
        assert_eq!(under(&local, host), 403, "{host}");
    }
    let (response, _) = answer(&local, Request::get("/").body(Body::empty()).unwrap());
    assert_eq!(response.status(), StatusCode::FORBIDDEN, "without a Host");

    let everywhere = server(root.path(), "0.0.0.0:8137", Some(TOKEN));
    for (host, status) in [("board", 401), ("board.local:1", 401), ("10.1.2.3", 401), ("evil", 403)]
    {
        assert_eq!(under(&everywhere, host), status, "{host}");
    }
}

#[test]
fn a_token_opens_by_header_and_by_cookie() {
    let root = folder();
    let server = server(root.path(), "127.0.0.1:8137", Some(TOKEN));
    let with = |name: header::HeaderName, value: &str| {
        let request = ask("/").header(name, value).body(Body::empty()).unwrap();
        answer(&server, request).0.status().as_u16()
    };
    assert_eq!(get(&server, "/").0, StatusCode::UNAUTHORIZED);
    assert_eq!(get(&server, "/assets/pages.css").0, StatusCode::UNAUTHORIZED);
    assert_eq!(with(header::AUTHORIZATION, &format!("Bearer {TOKEN}")), 200);
    assert_eq!(with(header::AUTHORIZATION, &format!("Bearer {TOKEN}x")), 401);
    assert_eq!(with(header::AUTHORIZATION, &format!("Bearer {}", &TOKEN[1..])), 401);
    assert_eq!(with(header::AUTHORIZATION, "Bearer "), 401);
    assert_eq!(with(header::COOKIE, &format!("a=b; latlab-8137={TOKEN}")), 200);
    assert_eq!(with(header::COOKIE, &format!("latlab-1={TOKEN}")), 401);
    assert_eq!(get(&server, "/?token=wrong").0, StatusCode::UNAUTHORIZED);

    for begin in ["/", "//", r"/\", r"/\/\"] {
        let path = format!("{begin}evil.example/?q=a&token={TOKEN}&verdict=pass");
        let (response, _) = answer(&server, ask(&path).body(Body::empty()).unwrap());
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
        let header = |name| response.headers().get(name).unwrap().to_str().unwrap();
        assert_eq!(header(header::LOCATION), "/evil.example/?q=a&verdict=pass", "{begin}");
        let cookie = header(header::SET_COOKIE);
        for word in [TOKEN, "HttpOnly", "SameSite=Strict"] {
            assert!(cookie.contains(word), "{cookie}");
        }
    }
}

/// Invariant (page and server): Guessed tokens are refused, and logged in few lines.
#[test]
fn guessed_tokens_are_refused_and_logged_once() {
    let root = folder();
    let server = server(root.path(), "127.0.0.1:8137", Some(TOKEN));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client: SocketAddr = "10.9.9.9:7".parse().unwrap();
    for number in 0..100 {
        let guess = format!("Bearer guess{number}");
        let request = ask("/").extension(ConnectInfo(client)).header(header::AUTHORIZATION, guess);
        let request = request.body(Body::empty()).unwrap();
        let response = runtime.block_on(server.clone().oneshot(request)).unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    }
    let logged = LOGGED.lock().unwrap();
    let said = logged.iter().filter(|line| line.contains("wrong token from 10.9.9.9")).count();
    assert_eq!(said, 1, "{logged:?}");
}

/// Invariant (page and server): Texts of runs and names of folders cannot turn or hide the lines of a page.
#[test]
fn hidden_characters_are_shown_as_escapes() {
    let root = folder();
    let name = "20261121T234355Z_gnp.\u{202e}\u{1b}[2Jexe";
    let hostile = root.path().join("runs").join(name);
    copy_run(&hostile);
    let server = server(root.path(), "127.0.0.1:8137", None);
    let (_, list) = get(&server, "/");
    assert!(list.contains(r"gnp.\u{202e}\u{1b}[2Jexe"), "{list}");
    assert!(!list.contains(['\u{202e}', '\u{1b}']), "{list}");
}

#[test]
fn every_answer_says_what_a_browser_may_do_with_it() {
    let root = folder();
    let server = server(root.path(), "127.0.0.1:8137", None);
    for path in ["/", "/nothing", "/assets/pages.css", &format!("/runs/{RUN}")] {
        let (response, _) = answer(&server, ask(path).body(Body::empty()).unwrap());
        let header = |name: header::HeaderName| response.headers()[name].to_str().unwrap();
        assert_eq!(header(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
        assert_eq!(header(header::REFERRER_POLICY), "no-referrer");
        assert!(header(header::CONTENT_SECURITY_POLICY).starts_with("default-src 'none'"));
    }
}

#[test]
fn a_run_that_was_cut_off_is_a_table_without_a_script() {
    let root = folder();
    let server = server(root.path(), "127.0.0.1:8137", None);
    let (status, page) = get(&server, "/live/20261121T234352Z_stream-3?table");
    assert_eq!(status, StatusCode::OK);
    assert!(
        page.contains("http-equiv=\"refresh\"") && page.contains("<td class=\"max\">"),
        "{page}"
    );
    let (response, _) = answer(&server, ask(&format!("/live/{RUN}")).body(Body::empty()).unwrap());
    assert_eq!(response.headers()[header::LOCATION], format!("/runs/{RUN}"));
}
