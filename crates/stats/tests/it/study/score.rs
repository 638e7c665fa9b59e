//! How often statements are right: the table in the guide.

use std::fmt::Write;

/// A statement about data of one kind.
#[derive(Clone)]
pub struct Score {
    pub data: String,
    pub statement: &'static str,
    /// Whether no part of the method was tuned on this kind of data.
    pub held_out: bool,
    /// Number of statements asked for.
    pub cases: usize,
    pub refused: usize,
    /// How many of the statements made are true.
    pub right: usize,
}

impl Score {
    pub fn new(data: impl Into<String>, statement: &'static str, held_out: bool) -> Score {
        Score { data: data.into(), statement, held_out, cases: 0, refused: 0, right: 0 }
    }

    /// Counts a case; `None` is a refusal.
    pub fn count(&mut self, said: Option<bool>) {
        self.cases += 1;
        match said {
            Some(is_right) => self.right += usize::from(is_right),
            None => self.refused += 1,
        }
    }

    /// Share of statements that are true; 1 without any.
    pub fn rightness(&self) -> f64 {
        match self.cases - self.refused {
            0 => 1.0,
            said => self.right as f64 / said as f64,
        }
    }

    pub fn refusals(&self) -> f64 {
        self.refused as f64 / self.cases.max(1) as f64
    }
}

pub fn score_table(scores: &[Score]) -> String {
    let mut text = String::from(
        "| data | statement | right | refused | cases | held out |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for one in scores {
        let right = match one.cases - one.refused {
            0 => "-".to_string(),
            _ => format!("{:.3}", one.rightness()),
        };
        let held_out = if one.held_out { "yes" } else { "" };
        writeln!(
            text,
            "| {} | {} | {right} | {:.2} | {} | {held_out} |",
            one.data,
            one.statement,
            one.refusals(),
            one.cases
        )
        .unwrap();
    }
    text
}
