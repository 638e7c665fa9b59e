//! The macro that declares the findings of one topic: enum, codes and weights.

use super::Weight;

/// What a code is, beside its parameters.
#[derive(Clone, Copy, Debug)]
pub struct FindingRow {
    /// The name of its row in the table.
    pub variant: &'static str,
    /// Stable name for scripts.
    pub code: &'static str,
    /// The weights that it may have, the usual one first.
    pub weights: &'static [Weight],
}

/// Declares an enum of findings, a row for each code:
///
/// `"code" Variant { parameters } => USUAL_WEIGHT, OTHER_WEIGHT if condition on the parameters;`
///
/// Each parameter is a field of the JSON object beside `code`, so that its name must not be one of
/// [`super::RESERVED`]. What a finding says is in `latlab-report`.
macro_rules! findings {
    ($(#[$meta:meta])* $name:ident {
        $(
            $code:literal $variant:ident { $($(#[$about:meta])* $field:ident: $type:ty),* $(,)? }
            => $weight:ident $(, $other:ident if $condition:expr)*;
        )+
    }) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(tag = "code")]
        #[allow(missing_docs)]
        pub enum $name {
            $(
                #[serde(rename = $code)]
                $variant { $($(#[$about])* $field: $type),* },
            )+
        }

        impl $name {
            /// All of them.
            pub const ROWS: &[FindingRow] = &[$(FindingRow {
                variant: stringify!($variant),
                code: $code,
                weights: &[$weight $(, $other)*],
            }),+];

            /// Stable name for scripts.
            pub fn code(&self) -> &'static str {
                match self { $($name::$variant { .. } => $code),+ }
            }

            /// How much it weighs.
            #[allow(unused_variables)]
            pub(super) fn weight(&self) -> Weight {
                match self {
                    $($name::$variant { $($field),* } => {
                        $(if $condition { return $other; })*
                        $weight
                    })+
                }
            }
        }
    };
}
pub(super) use findings;
