//! The macro that declares the findings of one topic: enum, codes, and rows of the reference.

/// A row of the table of findings in the reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FindingEntry {
    /// Stable name for scripts.
    pub code: &'static str,
    /// Its weights, as the table says them.
    pub weight: &'static str,
    /// What it does to the verdict, as the table says it.
    pub effect: &'static str,
    /// What it means, in Markdown.
    pub means: &'static str,
    /// What to do about it, in Markdown.
    pub action: &'static str,
}

/// Declares an enum of findings. The documentation of a variant is what the reference says it means.
///
/// `Variant = "code" (weight, effect on the verdict, what to do) { parameters }`; each parameter is a field of
/// the JSON object beside `code`, so that its name must not be one of [`super::RESERVED`].
macro_rules! findings {
    ($(#[$meta:meta])* $name:ident {
        $(
            $(#[doc = $means:literal])+
            $variant:ident = $code:literal ($weight:literal, $effect:literal, $action:literal)
            { $($(#[$about:meta])* $field:ident: $type:ty),* $(,)? }
        )+
    }) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(tag = "code")]
        pub enum $name {
            $(
                $(#[doc = $means])+
                #[serde(rename = $code)]
                $variant { $($(#[$about])* $field: $type),* },
            )+
        }

        impl $name {
            /// All of them as the reference lists them.
            pub const ROWS: &[FindingEntry] = &[$(FindingEntry {
                code: $code,
                weight: $weight,
                effect: $effect,
                means: concat!($($means),+),
                action: $action,
            }),+];

            /// Stable name for scripts.
            pub fn code(&self) -> &'static str {
                match self { $($name::$variant { .. } => $code),+ }
            }
        }
    };
}
pub(super) use findings;
