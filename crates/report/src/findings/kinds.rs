//! The macro that declares the words of the findings of one topic.

use latlab_model::shell::Line;

/// What the reference says of a code: when it is raised, and all that is printed of it.
#[derive(Clone, Copy, Debug)]
pub struct FindingWords {
    /// The name of its row in `latlab-model`.
    pub variant: &'static str,
    /// When it is raised, in Markdown.
    pub when: &'static str,
    /// What is printed: one text, or one for each case of its parameters.
    pub says: &'static [Said],
}

/// What is printed of a finding, with `{names}` where its parameters stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Said {
    /// What happened.
    pub text: &'static str,
    /// What to do about it: none, one, or one for each case of its parameters.
    pub remedies: &'static [&'static str],
}

/// A finding in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Worded {
    /// What happened.
    pub text: String,
    /// What to do about it.
    pub remedy: Option<Line>,
}

// Declares the words of an enum of findings, a row for each code:
//
// ```
// /// When it is raised, for the reference.
// Code { parameters } if condition =>
//     says "Text with {parameters} and {derived}.", derived = expression;
//     if condition => remedy "What to do in this case.";
//     remedy "What to do else, with {derived}.", derived = line;
// ```
//
// What stands before the first `=>` is an arm of a `match`, of which a row may have several: a code without
// words is an error of the compiler. Text and remedy are printed and are the reference. A parameter in a
// remedy is a [`Line`], so that names from elsewhere are quoted.
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
        /// The rows of the reference.
        pub(super) const WORDS: &[FindingWords] = &[$(FindingWords {
            variant: stringify!($variant),
            when: concat!($($when),+),
            says: &[$(Said { text: $text, remedies: &[$($remedy),*] }),+],
        }),+];

        /// The finding in words.
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
