//! Causes of spikes side by side: of two sides of runs, or of the rows of a campaign.

use crate::causes::cause_words;
use crate::document::table::{Column, Table};
use crate::document::{On, Section};
use crate::units::grouped;
use latlab_model::explanation::{Cause, CauseCounts};

/// This many causes have a row; the others share one.
const ROWS: usize = 12;
/// Causes that a sentence names.
const NAMED: usize = 2;

pub struct SideBySide<'a> {
    sides: Vec<(&'a str, &'a CauseCounts)>,
    /// Ordered by the number of spikes, descending.
    causes: Vec<&'a Cause>,
}

impl<'a> SideBySide<'a> {
    /// `None` if fewer than two sides have recorded spikes.
    pub fn new(
        sides: impl IntoIterator<Item = (&'a str, Option<&'a CauseCounts>)>,
    ) -> Option<SideBySide<'a>> {
        let sides: Vec<(&str, &CauseCounts)> =
            sides.into_iter().filter_map(|(name, counts)| Some((name, counts?))).collect();
        let mut all: Vec<(&Cause, u64)> = Vec::new();
        for one in sides.iter().flat_map(|(_, counts)| &counts.causes) {
            match all.iter_mut().find(|(cause, _)| *cause == &one.cause) {
                Some((_, count)) => *count += one.count,
                None => all.push((&one.cause, one.count)),
            }
        }
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let causes = all.into_iter().map(|(cause, _)| cause).collect();
        (sides.len() > 1).then_some(SideBySide { sides, causes })
    }

    /// The first causes as sentences on a page, and all in a table.
    pub fn section(&self) -> Section {
        let table =
            Table::new("A spike counts for the cause that took most of it.", self.columns());
        let section = Section::new("causes", "Causes of the spikes").without_title();
        section.texts_on(On::Page, self.sentences()).table(table)
    }

    fn columns(&self) -> Vec<Column> {
        let named = &self.causes[..self.causes.len().min(ROWS)];
        let has_others = self.causes.len() > named.len();
        let mut words: Vec<String> = named.iter().map(|cause| cause_words(cause)).collect();
        words.extend(has_others.then(|| "others".to_string()));
        words.push("not explained".to_string());
        let of_side = |(name, counts): &(&str, &CauseCounts)| {
            let known: Vec<u64> = named.iter().map(|cause| counts.of(cause)).collect();
            let explained: u64 = counts.causes.iter().map(|one| one.count).sum();
            let others = explained - known.iter().sum::<u64>();
            let rest = counts.recorded.saturating_sub(explained);
            let all = known.into_iter().chain(has_others.then_some(others)).chain([rest]);
            let cells: Vec<String> = all.map(|count| of(count, counts.recorded)).collect();
            Column::new(name, 0, cells)
        };
        [Column::new("cause of spikes", 0, words).left()]
            .into_iter()
            .chain(self.sides.iter().map(of_side))
            .collect()
    }

    /// A sentence for each of the first causes: "softirq NET_RX caused 41 of 50 spikes of stock,
    /// and none of 38 of RT".
    fn sentences(&self) -> Vec<String> {
        let sentence = |cause: &&Cause| {
            let mut parts = self.sides.iter().map(|(name, counts)| {
                format!("{} of {name}", of(counts.of(cause), counts.recorded))
            });
            let first = parts.next().unwrap_or_default();
            let rest: Vec<String> = parts.collect();
            format!("Of the spikes {} caused {first}; {}.", cause_words(cause), rest.join("; "))
        };
        self.causes.iter().take(NAMED).map(sentence).collect()
    }
}

/// `41 of 50`, or `none of 50`.
fn of(count: u64, all: u64) -> String {
    match count {
        0 => format!("none of {}", grouped(all)),
        count => format!("{} of {}", grouped(count), grouped(all)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::explanation::{CauseKind, CountedCause};

    fn counts(recorded: u64, causes: &[(&str, u64)]) -> CauseCounts {
        let cause = |&(name, count): &(&str, u64)| CountedCause {
            cause: Cause { kind: CauseKind::Softirq, name: name.to_string() },
            count,
        };
        CauseCounts { recorded, causes: causes.iter().map(cause).collect() }
    }

    #[test]
    fn causes_of_both_sides_stand_in_one_row_with_what_is_not_explained() {
        let (stock, rt) = (counts(50, &[("NET_RX", 41), ("RCU", 2)]), counts(3, &[("RCU", 3)]));
        let both = SideBySide::new([("stock", Some(&stock)), ("RT", Some(&rt))]).unwrap();
        assert_eq!(
            both.sentences(),
            [
                "Of the spikes softirq NET_RX caused 41 of 50 of stock; none of 3 of RT.",
                "Of the spikes softirq RCU caused 2 of 50 of stock; 3 of 3 of RT."
            ]
        );
        let shown = crate::document::table::table(both.columns(), 100, crate::Style::default());
        let lines: Vec<Vec<&str>> = shown
            .lines()
            .map(|line| line.split("  ").filter(|cell| !cell.is_empty()).collect())
            .collect();
        assert!(lines.iter().any(|line| line.join("|").contains("not explained")), "{shown}");
        assert!(shown.contains("7 of 50") && shown.contains("none of 3"), "{shown}");
        assert!(SideBySide::new([("stock", Some(&stock)), ("RT", None)]).is_none());
    }
}
