//! The macro that declares the findings of one topic: enum, codes and weights.

use super::Weight;

/// A finding's code and weights, without its parameters.
#[derive(Clone, Copy, Debug)]
pub struct FindingRow {
    /// Variant name, which is also the name of its row in the table.
    pub variant: &'static str,
    /// Stable name for scripts.
    pub code: &'static str,
    /// The weights it may have, the usual one first.
    pub weights: &'static [Weight],
}

/// Declares an enum of findings, a row for each code:
///
/// `"code" Variant { parameters } => USUAL_WEIGHT, OTHER_WEIGHT if condition on the parameters;`
///
/// Each parameter is a field of the JSON object next to `code`, so its name must not be one of
/// [`super::RESERVED`]. The texts of findings are in `latlab-report`.
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
            /// All rows of this enum.
            pub const ROWS: &[FindingRow] = &[$(FindingRow {
                variant: stringify!($variant),
                code: $code,
                weights: &[$weight $(, $other)*],
            }),+];

            /// Stable name for scripts.
            pub fn code(&self) -> &'static str {
                match self { $($name::$variant { .. } => $code),+ }
            }

            /// Severity and effect on the verdict.
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
