#!/usr/bin/env bash
# Cuts the font of the pictures (DejaVu Sans Condensed 2.37) to the characters that pictures use, and
# writes the result to crates/report/fonts. Only needed when that set of characters changes.
#
# Usage: scripts/font.sh FOLDER     with DejaVuSansCondensed.ttf and DejaVuSansCondensed-Bold.ttf,
#                                   such as /usr/share/fonts/truetype/dejavu of fonts-dejavu-extra
#
# Needs pyftsubset: pip install fonttools==4.68.0 brotli==1.2.1
set -euo pipefail

from=${1:?name the folder with DejaVuSansCondensed.ttf}
to=$(dirname "$0")/../crates/report/fonts

# Latin, punctuation of numbers, superscript digits, arrows, some marks: enough for nearly every picture,
# so a separate picture carries only these.
common=U+20-7E,U+A0-FF,U+2010-2026,U+2030-2033,U+2070-208E,U+2190-2193,U+2212,U+2248,U+2260-2265,U+25B2,U+25BC,U+25CF,U+FFFD
# The same with all of Latin, Greek, Cyrillic, and more symbols.
all=$common,U+100-17F,U+386-3CE,U+400-45F,U+2034-203A,U+208F-209C,U+20AC,U+2194-2195,U+2200-225F,U+25A0-25CF

cut() { # SOURCE CHARACTERS TARGET [OPTION...]
    # Without hints, kerning and ligatures a text is as wide as the sum of its characters, in every
    # browser and in a PNG.
    pyftsubset "$from/$1.ttf" --unicodes="$2" --output-file="$to/$3" "${@:4}" \
        --no-hinting --layout-features= --drop-tables+=GDEF,GSUB,GPOS,kern,FFTM,MATH,gasp \
        --name-IDs=0,1,2,4,6,13
}

for weight in regular:DejaVuSansCondensed bold:DejaVuSansCondensed-Bold; do
    source=${weight#*:} weight=${weight%%:*}
    cut "$source" "$all" "$weight.ttf"
    cut "$source" "$all" "$weight.woff2" --flavor=woff2
    cut "$source" "$common" "$weight-common.woff2" --flavor=woff2
done
