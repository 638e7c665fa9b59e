//! Pure: a run to SVG, HTML page and terminal tables.
