//! A picture that needs nothing beside it: no page that sets its colours, and no font.

use super::font::{FAMILY, Weight};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// The picture with its font inside and with its own colours, for a file of its own.
///
/// What is no SVG comes back as it was.
pub fn standalone(svg: &str) -> String {
    let svg = plain_colours(svg);
    let Some((start, end)) = root(&svg) else { return svg };
    let tag = with_family(&svg[start..end]);
    let style = font_faces(&svg);
    format!("{}{tag}<style>{style}</style>{}", &svg[..start], &svg[end..])
}

/// Where the tag of the picture begins and ends.
fn root(svg: &str) -> Option<(usize, usize)> {
    let start = svg.find("<svg")?;
    let end = start + svg[start..].find('>')? + 1;
    (!svg[..end].ends_with("/>")).then_some((start, end))
}

/// The tag with the font that the picture carries before all others that it names.
fn with_family(tag: &str) -> String {
    const ATTRIBUTE: &str = " font-family=\"";
    match tag.contains(ATTRIBUTE) {
        true => tag.replacen(ATTRIBUTE, &format!("{ATTRIBUTE}'{FAMILY}',"), 1),
        false => tag.replacen("<svg", &format!("<svg{ATTRIBUTE}'{FAMILY}'\""), 1),
    }
}

/// The rules that give a browser the font for this text; bold type only where there is any.
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

/// Every `var(--name,value)` as its value, since only browsers know variables.
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

/// Where the bracket that is open at the start is closed.
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
