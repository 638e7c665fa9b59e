//! Makes a picture self-contained: no page to set its colours, no external font.

use super::font::{FAMILY, Weight};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// The picture with its font embedded and its colours resolved, for a file. Input that is not an
/// SVG is returned unchanged.
pub fn standalone(svg: &str) -> String {
    let svg = plain_colours(svg);
    let Some((start, end)) = root(&svg) else { return svg };
    let tag = with_family(&svg[start..end]);
    let style = font_faces(&svg);
    format!("{}{tag}<style>{style}</style>{}", &svg[..start], &svg[end..])
}

/// The range of the `<svg>` tag.
fn root(svg: &str) -> Option<(usize, usize)> {
    let start = svg.find("<svg")?;
    let end = start + svg[start..].find('>')? + 1;
    (!svg[..end].ends_with("/>")).then_some((start, end))
}

/// Puts the embedded font before all others that the tag names.
fn with_family(tag: &str) -> String {
    const ATTRIBUTE: &str = " font-family=\"";
    match tag.contains(ATTRIBUTE) {
        true => tag.replacen(ATTRIBUTE, &format!("{ATTRIBUTE}'{FAMILY}',"), 1),
        false => tag.replacen("<svg", &format!("<svg{ATTRIBUTE}'{FAMILY}'\""), 1),
    }
}

/// The `@font-face` rules for this text; bold type only if it is used.
pub fn font_faces(svg: &str) -> String {
    let bold = svg.contains("font-weight");
    let weights = Weight::ALL.into_iter().filter(|weight| *weight == Weight::Regular || bold);
    let faces = weights.map(|weight| {
        let file = BASE64_STANDARD.encode(weight.woff2(svg.chars()));
        let number = if weight == Weight::Bold { 700 } else { 400 };
        format!(
            "@font-face{{font-family:'{FAMILY}';font-weight:{number};\
             src:url(data:font/woff2;base64,{file}) format('woff2')}}"
        )
    });
    faces.collect()
}

/// Replaces every `var(--name,value)` by its value, since only browsers support variables.
pub(crate) fn plain_colours(svg: &str) -> String {
    let mut plain = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some((before, after)) = rest.split_once("var(--") {
        plain.push_str(before);
        let end = closing(after);
        let value = after[..end].split_once(',').map_or("none", |(_, value)| value.trim());
        plain.push_str(&plain_colours(value));
        rest = after.get(end + 1..).unwrap_or_default();
    }
    plain + rest
}

/// The position of the parenthesis that closes the one open at the start.
fn closing(text: &str) -> usize {
    let mut open = 1;
    let close = text.bytes().position(|byte| {
        open += match byte {
            b'(' => 1,
            b')' => -1,
            _ => 0,
        };
        open == 0
    });
    close.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_of_a_picture_alone() {
        let plain = plain_colours("a{fill:var(--x,#123)}b{fill:var(--y, rgb(1,2,3));x:var(--z)}");
        assert_eq!(plain, "a{fill:#123}b{fill:rgb(1,2,3);x:none}");
        assert_eq!(plain_colours("var(--a,var(--b,red)) var(--c,x"), "red x");
    }
}
