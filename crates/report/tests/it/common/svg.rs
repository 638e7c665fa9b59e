//! Parses pictures.

pub fn attribute<'a>(element: &'a str, name: &str) -> &'a str {
    let start = element.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
    element[start..].split('"').next().unwrap()
}

pub fn number(element: &str, name: &str) -> f64 {
    attribute(element, name).parse().unwrap()
}

/// The elements with this name, each from its first attribute on.
pub fn elements<'a>(picture: &'a str, name: &str) -> Vec<&'a str> {
    picture
        .split(&format!("<{name} "))
        .skip(1)
        .map(|rest| rest.split('>').next().unwrap())
        .collect()
}
