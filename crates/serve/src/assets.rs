//! Script and styles of this crate's pages.

use crate::answer::{OWN, answer, refusal};
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use latlab_report::{LIVE_SCRIPT, LIVE_STYLE};

const STYLE: &str = include_str!("pages.css");

/// `/assets/NAME`.
pub async fn asset(Path(name): Path<String>) -> Response {
    let css = "text/css; charset=utf-8";
    let (kind, text) = match name.as_str() {
        "pages.css" => (css, STYLE),
        "live.css" => (css, LIVE_STYLE),
        "live.js" => ("text/javascript; charset=utf-8", LIVE_SCRIPT),
        _ => return refusal(StatusCode::NOT_FOUND, "there is no such file"),
    };
    answer(StatusCode::OK, kind, OWN, text)
}
