//! The macro that declares the texts of the findings of one topic.

use latlab_model::shell::Line;

/// The reference entry for a code: when it is raised, and everything that it prints.
#[derive(Clone, Copy, Debug)]
pub struct FindingWords {
    /// Name of the enum variant in `latlab-model`.
    pub variant: &'static str,
    /// When it is raised, in Markdown.
    pub when: &'static str,
    /// The printed text, or one for each case of its parameters.
    pub says: &'static [Said],
}

/// The printed text of a finding, with `{names}` in place of its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Said {
    pub text: &'static str,
    /// Remedies: none, one, or one for each case of its parameters.
    pub remedies: &'static [&'static str],
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Worded {
    /// What happened.
    pub text: String,
    /// What to do about it.
    pub remedy: Option<Line>,
}

// Declares the texts of an enum of findings, a row for each code:
//
// ```
// /// When it is raised, for the reference.
// Code { parameters } if condition =>
//     says "Text with {parameters} and {derived}.", derived = expression;
//     if condition => remedy "What to do in this case.";
//     remedy "What to do else, with {derived}.", derived = line;
// ```
//
// The part before the first `=>` is an arm of a `match`, and a row may have several, so a code without
// texts does not compile. Text and remedy are both printed and part of the reference. A parameter in a
// remedy is a [`Line`], so that untrusted names are quoted.
macro_rules! words {
    (@is) => { true };
    (@is $condition:expr) => { $condition };
    ($name:ident {
        $(
            $(#[doc = $when:literal])+
            $variant:ident $(
                { $($pattern:tt)* } $(if $guard:expr)? =>
                says $text:literal $(, $arg:ident = $value:expr)*;
                $($(if $condition:expr =>)? remedy $remedy:expr $(, $part:ident = $line:expr)*;)*
            )+
        )+
    }) => {
        pub(super) const WORDS: &[FindingWords] = &[$(FindingWords {
            variant: stringify!($variant),
            when: concat!($($when),+),
            says: &[$(Said { text: $text, remedies: &[$($remedy),*] }),+],
        }),+];

        pub(super) fn worded(finding: &$name) -> Worded {
            match finding {
                $($(
                    $name::$variant { $($pattern)* } $(if $guard)? => {
                        let text = format!($text $(, $arg = $value)*);
                        $(if words!(@is $($condition)?) {
                            let line = Line::filled($remedy, &[$((stringify!($part), $line)),*]);
                            return Worded { text, remedy: Some(line) };
                        })*
                        Worded { text, remedy: None }
                    }
                )+)+
            }
        }
    };
}
pub(super) use words;
