//! docs/reference/findings.md, from the findings of `latlab-model`.

use super::{differs, folder};
use latlab_model::finding::{FindingEntry, TOPICS};

const HEAD: &str = "\
# Findings

Each finding of a run has a code that scripts can rely on, and parameters: numbers and names that
[run.schema.json](run.schema.json) describes. `run.json` stores these only. Sentences and weights
are made when a command prints a finding: `latlab show` prints the code in brackets, and
`latlab show --format json | jq -r '.findings[] | [.severity, .code, .text] | @tsv'` lists the
findings of a run, heaviest first. This page is made from the source by `make reference`.

**Weight**: `info` is good to know, a `warning` may have changed the figures, an `error` makes them
worthless or incomplete. **Invalid**: whether it makes the verdict `invalid`, because the figures do
not say what was asked. Of each kind, 50 findings are kept; the rest is counted in one more finding
with the parameter `more`. A run of schema 1 to 4 holds the sentences of its time, and they are
printed as they are.
";

/// Invariant (documents): Documents name no link, flag or finding that does not exist.
#[test]
fn the_page_of_the_findings_is_that_of_the_source() {
    let page = format!("{HEAD}{}", TOPICS.iter().map(section).collect::<String>());
    assert!(
        !differs(&folder("findings.md"), &page),
        "docs/reference/findings.md is not what the source says: `make reference` writes it anew"
    );
}

fn section((title, introduction, rows): &(&str, &str, &[FindingEntry])) -> String {
    let introduction = match *introduction {
        "" => String::new(),
        text => super::catalogue::filled(text, ""),
    };
    let table: String = rows.iter().map(row).collect();
    format!(
        "\n## {title}\n\n{introduction}| code | weight | invalid | means | do |\n\
         | --- | --- | --- | --- | --- |\n{table}"
    )
}

fn row(row: &FindingEntry) -> String {
    let FindingEntry { code, weight, invalid, means, action } = row;
    format!("| `{code}` | {weight} | {invalid} | {} | {action} |\n", means.trim())
}
