//! Access control, applied to every request before any page sees it.

use crate::log::RepeatedEvent;
use crate::response::{refusal, see_other};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

/// Shorter secrets could be guessed.
const SHORTEST_TOKEN: usize = 16;
const LONGEST_TOKEN: usize = 256;

/// The secret that browsers on other machines need.
#[derive(Clone)]
pub struct Token(String);

/// Why a token is invalid.
#[derive(Debug, thiserror::Error)]
#[error(
    "a token has {SHORTEST_TOKEN} to {LONGEST_TOKEN} letters, digits, '.', '_', '~' or '-': \
     `head -c 24 /dev/urandom | basenc --base64url` makes one"
)]
pub struct TokenError;

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Token, TokenError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._~-".contains(&byte);
        let fits = (SHORTEST_TOKEN..=LONGEST_TOKEN).contains(&text.len());
        (fits && text.bytes().all(plain)).then(|| Token(text.to_string())).ok_or(TokenError)
    }
}

impl Token {
    /// Compares as many bytes as a token can have, so that timing reveals neither the position of a
    /// difference nor the length.
    fn equals(&self, other: &str) -> bool {
        let byte = |text: &str, at| text.as_bytes().get(at).copied().unwrap_or(0);
        let differs = (0..LONGEST_TOKEN)
            .fold(0, |all, at| black_box(all | (byte(&self.0, at) ^ byte(other, at))));
        differs == 0 && self.0.len() == other.len()
    }
}

/// The rules that requests must meet.
#[derive(Clone)]
pub struct Guard(Arc<Rules>);

struct Rules {
    address: SocketAddr,
    /// Host names of this machine that are accepted when it listens on all addresses.
    names: Vec<String>,
    token: Option<Token>,
    cookie: String,
    wrong_token: RepeatedEvent,
}

impl Guard {
    /// For a server at this address, on a machine of this name; wrong tokens are logged.
    pub fn new(address: SocketAddr, hostname: &str, token: Option<Token>, log: fn(&str)) -> Guard {
        let names = vec![hostname.to_string(), format!("{hostname}.local")];
        // Cookies ignore ports, and two servers have two tokens.
        let cookie = format!("latlab-{}", address.port());
        let wrong_token = RepeatedEvent::new(log, |count| format!("{count} more wrong tokens"));
        Guard(Arc::new(Rules { address, names, token, cookie, wrong_token }))
    }
}

/// Passes a request on or refuses it, and adds the common response headers.
pub async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let mut response = match guard.0.refuse(&request) {
        Some(refused) => refused,
        None => next.run(request).await,
    };
    let said = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in said {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

impl Rules {
    fn refuse(&self, request: &Request) -> Option<Response> {
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            let text = "this server is read-only: use GET or HEAD";
            let mut refused = refusal(StatusCode::METHOD_NOT_ALLOWED, text);
            refused.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return Some(refused);
        }
        if !self.is_own_host(request.headers()) {
            // DNS rebinding: a foreign page whose name was made to resolve to this server.
            let text = "this server answers only requests to localhost and to its own address";
            return Some(refusal(StatusCode::FORBIDDEN, text));
        }
        self.token.as_ref().and_then(|token| self.refuse_stranger(token, request))
    }

    /// Accepts requests with the token; one that has it in the address gets a cookie.
    fn refuse_stranger(&self, token: &Token, request: &Request) -> Option<Response> {
        let text = "a token is needed: open the address with ?token=TOKEN appended, or send \
                    'Authorization: Bearer TOKEN'";
        let unknown = Some(refusal(StatusCode::UNAUTHORIZED, text));
        let in_headers = self.tokens(request.headers());
        let in_address = asked_token(request.uri());
        if in_headers.is_empty() && in_address.is_none() {
            return unknown;
        }
        if in_headers.iter().any(|sent| token.equals(sent)) {
            return None;
        }
        if in_address.is_some_and(|sent| token.equals(sent)) {
            return Some(self.accept_token(token, request.uri()));
        }
        self.wrong_token.record(|| format!("wrong token from {}", client(request)));
        unknown
    }

    fn is_own_host(&self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(Ok(host)), None) = (hosts.next().map(HeaderValue::to_str), hosts.next()) else {
            return false;
        };
        let Some(name) = without_port(host) else { return false };
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        match address {
            // An address cannot be redirected, unlike a name.
            Ok(address) => {
                address == self.address.ip()
                    || address.is_loopback()
                    || self.address.ip().is_unspecified()
            }
            Err(_) => {
                let is = |own: &String| own.eq_ignore_ascii_case(name);
                let everywhere = self.address.ip().is_unspecified();
                name.eq_ignore_ascii_case("localhost") || everywhere && self.names.iter().any(is)
            }
        }
    }

    /// The tokens that a client sends, right or wrong.
    fn tokens<'a>(&self, headers: &'a HeaderMap) -> Vec<&'a str> {
        let text = |name| headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        let words = text(header::AUTHORIZATION).filter_map(|value| value.split_once(' '));
        let bearers = words.filter(|(word, _)| word.eq_ignore_ascii_case("bearer"));
        let cookies = text(header::COOKIE).flat_map(|value| value.split(';'));
        let pairs = cookies.filter_map(|pair| pair.trim().split_once('='));
        let cookies = pairs.filter(|(name, _)| *name == self.cookie);
        bearers.map(|(_, sent)| sent.trim()).chain(cookies.map(|(_, sent)| sent)).collect()
    }

    /// Sets a cookie, and redirects to the address without the token.
    fn accept_token(&self, token: &Token, uri: &Uri) -> Response {
        let rest: Vec<&str> = pairs(uri).filter(|pair| !pair.starts_with("token=")).collect();
        // Browsers would take several leading slashes, of either kind, for a host name.
        let path = format!("/{}", uri.path().trim_start_matches(['/', '\\']));
        let place = if rest.is_empty() { path } else { format!("{path}?{}", rest.join("&")) };
        let mut response = see_other(&place);
        let cookie = format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie, token.0);
        if let Ok(value) = HeaderValue::from_str(&cookie) {
            response.headers_mut().insert(header::SET_COOKIE, value);
        }
        response
    }
}

/// Address of the client.
fn client(request: &Request) -> IpAddr {
    let known = request.extensions().get::<ConnectInfo<SocketAddr>>();
    known.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(client)| client.ip())
}

fn pairs(uri: &Uri) -> impl Iterator<Item = &str> {
    uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty())
}

fn asked_token(uri: &Uri) -> Option<&str> {
    pairs(uri).find_map(|pair| pair.strip_prefix("token="))
}

/// The name or address of a Host header.
fn without_port(host: &str) -> Option<&str> {
    let end = match host.starts_with('[') {
        true => host.find(']')? + 1,
        false => host.find(':').unwrap_or(host.len()),
    };
    let (name, port) = host.split_at(end);
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let whole = port.is_empty() || port.strip_prefix(':').is_some_and(digits);
    whole.then_some(name)
}
