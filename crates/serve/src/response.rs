//! Responses: pages, files and refusals.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

/// Content security policy of this crate's pages: only resources of this server.
pub const OWN: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'";
/// Policy of a self-contained page: no resources, but its own script.
pub const SELF_CONTAINED: &str = "default-src 'none'; script-src 'unsafe-inline'; \
    style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// A response of this type, with its content security policy.
pub fn response(
    status: StatusCode,
    kind: &'static str,
    policy: &'static str,
    body: impl Into<Body>,
) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}

/// A page of this crate.
pub fn page(html: String) -> Response {
    response(StatusCode::OK, "text/html; charset=utf-8", OWN, html)
}

/// A self-contained page.
pub fn self_contained(html: Bytes) -> Response {
    response(StatusCode::OK, "text/html; charset=utf-8", SELF_CONTAINED, html)
}

/// A refusal in one line.
pub fn refusal(status: StatusCode, text: &str) -> Response {
    response(status, "text/plain; charset=utf-8", OWN, format!("{text}\n"))
}

/// Redirects to another page of this server, with GET.
pub fn see_other(place: &str) -> Response {
    let mut response = refusal(StatusCode::SEE_OTHER, place);
    if let Ok(value) = HeaderValue::from_str(place) {
        response.headers_mut().insert(header::LOCATION, value);
    }
    response
}

/// Percent-encodes text as a part of a path.
pub fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |byte: u8| match plain(byte) {
        true => (byte as char).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

pub fn not_found(text: &str) -> Response {
    refusal(StatusCode::NOT_FOUND, text)
}
