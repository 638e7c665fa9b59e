//! The answer of `latlab tune`: which settings help, for the terminal, as Markdown and as a page;
//! and what a search will do, before it starts.

use crate::compare::ratio;
use crate::document::html::{content, folds};
use crate::document::outline::{Outline, prose};
use crate::document::style::{Colour, Style};
use crate::document::table::{Cell, Column, Table, wrapped};
use crate::document::{Section, escaped, to_markdown, to_terminal};
use crate::page::document;
use crate::page::pictures::in_widths;
use crate::pictures::effects::{self, EffectRow, EffectsPicture};
use crate::pictures::svg::MUTED;
use crate::units::{counted, short, span};
use latlab_model::Nanos;
use latlab_model::doctor::Diagnosis;
use latlab_model::shell::Line;
use latlab_model::tune::{
    Candidate, Confirmed, FigureEffect, Influence, LeftOut, SettingResult, SettingWord, TunePlan,
    TuneResult, TunedFigure, UntouchedFigure,
};
use maud::html;

/// Settings that are named with their figures in the headline; the others are named alone.
const NAMED: usize = 4;

pub fn show(of: &TuneResult, width: usize, style: Style) -> String {
    let head = wrapped(&headline(of), width, 0);
    let colour = match of.with(SettingWord::Helps).next() {
        Some(_) => Colour::Good,
        None => Colour::Warn,
    };
    format!("{}\n\n{}", style.paint(colour, &head), to_terminal(&sections(of), width, style))
}

pub fn markdown(of: &TuneResult) -> String {
    format!("**{}**\n\n{}", escaped(&headline(of)), to_markdown(&sections(of)))
}

pub fn page(of: &TuneResult) -> String {
    let outline = Outline::page();
    let head = headline(of);
    let mut all = sections(of).into_iter();
    let first = all.next();
    let body = html! {
        main.judged {
            header.answer {
                p.kicker { "Which settings help? · " (of.id) }
                (outline.headline(prose(&head)))
            }
            @for figure in figures(of).filter(|figure| figure.decides()) { (picture(of, figure, &outline)) }
            @if let Some(settings) = first { (content(&settings)) }
            (folds(&outline, &all.collect::<Vec<_>>()))
        }
        footer { p { "Made by latlab " (latlab_model::VERSION) " from campaign " (of.id) "." } }
    };
    document(&head, &body)
}

/// The answer in a few sentences.
pub fn headline(of: &TuneResult) -> String {
    if of.pairs == 0 {
        return "Nothing is known yet: no pair of slots was measured.".to_string();
    }
    let all = of.settings.len() as u64;
    let named = |word: SettingWord| {
        let many: Vec<&SettingResult> = of.with(word).collect();
        let each = many.iter().enumerate().map(|(at, one)| match at < NAMED {
            true => format!("{} ({})", one.setting.name, effects_of(one)),
            false => one.setting.name.clone(),
        });
        (many.len(), each.collect::<Vec<_>>().join(", "))
    };
    let helping = match named(SettingWord::Helps) {
        (0, _) => format!("None of {} is proven to help.", counted(all, "setting", "settings")),
        (1, names) => format!("1 of {} helps: {names}.", counted(all, "setting", "settings")),
        (many, names) => format!("{many} of {all} settings help: {names}."),
    };
    let hurting = match named(SettingWord::Hurts) {
        (0, _) => None,
        (1, names) => Some(format!("1 hurts: {names}.")),
        (many, names) => Some(format!("{many} hurt: {names}.")),
    };
    let joint = of.joint.iter().filter(|one| one.figure.decides()).map(|one| {
        let ((first, second), figure) = (&one.settings, one.figure);
        let ratio = ratio(one.ratio);
        match one.ratio < 1.0 {
            true => {
                format!("{first} and {second} help more together than alone ({figure} x{ratio}).")
            }
            false => format!("{first} and {second} take from each other ({figure} x{ratio})."),
        }
    });
    let same = of.with(SettingWord::NoDifference).count();
    let same = (same > 0).then(|| {
        let verb = if same == 1 { "makes" } else { "make" };
        format!("{same} {verb} no difference above {:.0} %.", of.tolerance * 100.0)
    });
    let open: Vec<&SettingResult> = of.with(SettingWord::Undecided).collect();
    let longest = open.iter().filter_map(|one| one.more_ns).max();
    let undecided = (!open.is_empty()).then(|| {
        let more = match longest {
            Some(more) => format!("about {} more for those that show anything", span(more)),
            None => "and nothing points either way yet".to_string(),
        };
        format!("{} undecided, {more}.", open.len())
    });
    let sentences = std::iter::once(helping).chain(hurting).chain(joint).chain(same);
    let sentences = sentences.chain(undecided).chain(of.confirmed.as_ref().map(together));
    sentences.collect::<Vec<_>>().join(" ")
}

/// The figure of a setting that says most: one that decided, else the first.
fn effects_of(of: &SettingResult) -> String {
    let is_telling = |one: &&FigureEffect| {
        one.figure.decides() && matches!(one.influence, Influence::Lowers | Influence::Raises)
    };
    let told: Vec<String> = of.effects.iter().filter(is_telling).map(effect).collect();
    told.join(", ")
}

/// `p99.9 x0.61, 0.55 to 0.68`.
fn effect(of: &FigureEffect) -> String {
    format!("{} x{}, {}", of.figure, ratio(of.ratio), bounds(of))
}

fn bounds(of: &FigureEffect) -> String {
    match (of.low, of.high) {
        (Some(low), Some(high)) => format!("{} to {}", ratio(low), ratio(high)),
        (None, Some(high)) => format!("at most {}", ratio(high)),
        (Some(low), None) => format!("at least {}", ratio(low)),
        (None, None) => "no bound yet".to_string(),
    }
}

fn together(of: &Confirmed) -> String {
    let names = of.settings.join(", ");
    let misses = of.misses.map(|(before, after)| format!("; deadline misses {before} to {after}"));
    let misses = misses.unwrap_or_default();
    let runs = counted(of.runs as u64, "fresh run", "fresh runs");
    match (of.ratio, of.interval) {
        (Some(by), Some((low, high))) => {
            let doubt = if of.helps() { "" } else { ", which does not prove that they help" };
            format!(
                "Together ({names}) against the untouched machine, in {runs} a side: {} x{} (95 %: \
                 {} to {}){doubt}{misses}.",
                of.figure,
                ratio(by),
                ratio(low),
                ratio(high)
            )
        }
        _ => format!("Together ({names}): {runs} a side cannot tell{misses}."),
    }
}

fn figures(of: &TuneResult) -> impl Iterator<Item = TunedFigure> + '_ {
    of.settings.first().into_iter().flat_map(|one| &one.effects).map(|one| one.figure)
}

fn sections(of: &TuneResult) -> Vec<Section> {
    let left_out = (!of.left_out.is_empty()).then(|| left_out(&of.left_out));
    [Some(settings(of)), Some(basis(of)), costs(of), left_out].into_iter().flatten().collect()
}

fn settings(of: &TuneResult) -> Section {
    let each =
        |cell: &dyn Fn(&SettingResult) -> Cell| of.settings.iter().map(cell).collect::<Vec<_>>();
    let answer = |one: &SettingResult| {
        let (class, colour) = match one.word {
            SettingWord::Helps => ("pass", Colour::Good),
            SettingWord::Hurts => ("fail", Colour::Bad),
            SettingWord::NoDifference => ("", Colour::Dim),
            SettingWord::Undecided => ("inconclusive", Colour::Warn),
        };
        Cell::from(title(one.word).to_string()).badge(class, colour)
    };
    let mut columns = vec![
        Column::new("setting", 0, each(&|one| one.setting.name.clone().into())).left(),
        Column::new("answer", 0, each(&answer)).left(),
    ];
    for (at, figure) in figures(of).enumerate() {
        let cell = |one: &SettingResult| {
            let effect = &one.effects[at];
            Cell::from(format!("x{}", ratio(effect.ratio))).note(Some(bounds(effect)))
        };
        let rank = if figure.decides() { 0 } else { 2 };
        columns.push(Column::new(figure.as_str(), rank, each(&cell)).left());
    }
    columns.push(Column::new("writes", 1, each(&|one| change(&one.setting).into())).left());
    let caption = "Each figure with the setting over the figure without it, and bounds that hold for all \
                   settings and figures at once, whenever the search ends";
    Section::new("settings", "Settings")
        .without_title()
        .table(Table::new(caption, columns).stacked())
}

fn title(word: SettingWord) -> &'static str {
    match word {
        SettingWord::Helps => "helps",
        SettingWord::Hurts => "hurts",
        SettingWord::NoDifference => "no difference",
        SettingWord::Undecided => "undecided",
    }
}

/// What a setting changes: `/proc/sys/vm/swappiness 60 -> 1`.
fn change(of: &Candidate) -> String {
    let files = of.kernel_files.iter().enumerate().map(|(at, file)| {
        let before = of.before.get(at).and_then(Option::as_deref).unwrap_or("?");
        (before.to_string(), file.value.clone(), file.path.clone())
    });
    let files: Vec<(String, String, String)> = files.collect();
    match &files[..] {
        [] => of.writes().join(", "),
        [(before, after, path)] => format!("{path} {before} -> {after}"),
        [(before, after, path), rest @ ..] => {
            format!("{path} and {} more {before} -> {after}", rest.len())
        }
    }
}

fn basis(of: &TuneResult) -> Section {
    let figure = |one: &UntouchedFigure| match one.figure {
        TunedFigure::Bursts => format!("{:.1} bursts of misses", one.median),
        TunedFigure::LoadRate => format!("rate of the load {}", ratio(one.median)),
        _ => format!("{} {}", one.figure, short(one.median)),
    };
    let untouched: Vec<String> = of.untouched.iter().map(figure).collect();
    let runs = of.untouched_runs as u64;
    let untouched = (!untouched.is_empty()).then(|| {
        format!(
            "The untouched machine, median of {}: {}.",
            counted(runs, "slot", "slots"),
            untouched.join(", ")
        )
    });
    let pairs = format!(
        "{} of {} pairs of slots of {}. In each slot every setting is on or off by chance, in the other slot \
         of the pair the other way round.",
        of.pairs,
        of.planned_pairs,
        span(of.slot_ns)
    );
    let sure = "The probability of any false statement above is at most 5 %, over all settings and figures, \
                whenever the search ends."
        .to_string();
    Section::new("basis", "What this rests on")
        .texts([pairs].into_iter().chain(untouched).chain([sure]))
}

/// What the settings that help cost.
fn costs(of: &TuneResult) -> Option<Section> {
    let lines = of.with(SettingWord::Helps).flat_map(|one| {
        let named = |what: &String| format!("{}: {what}", one.setting.name);
        let cost = one.setting.cost.iter().map(named);
        let lost = one.setting.protects.iter().map(|lost| format!("{}: {lost}", one.setting.name));
        let is_cost = |effect: &&FigureEffect| {
            let worse = if effect.figure.is_bad() { Influence::Raises } else { Influence::Lowers };
            !effect.figure.decides() && effect.influence == worse
        };
        let measured = one.effects.iter().filter(is_cost);
        let measured = measured.map(|cost| format!("{}: {}", one.setting.name, effect(cost)));
        cost.chain(lost).chain(measured).collect::<Vec<_>>()
    });
    let lines: Vec<String> = lines.collect();
    let section = Section::new("costs", "What they cost");
    section.list(lines).or_nothing()
}

fn left_out(all: &[LeftOut]) -> Section {
    let lines = all.iter().map(|one| format!("{}: {}", one.name, one.reason)).collect();
    Section::new("left-out", "Not tried").list(lines)
}

fn picture(of: &TuneResult, figure: TunedFigure, outline: &Outline) -> maud::Markup {
    let effects = of.settings.iter().filter_map(|one| {
        let effect = one.effects.iter().find(|effect| effect.figure == figure)?;
        Some((one, effect))
    });
    let rows = effects.map(|(one, effect)| EffectRow {
        name: &one.setting.name,
        ratio: effect.ratio,
        bounds: (effect.low, effect.high),
        colour: colour(one.word),
    });
    let drawn =
        EffectsPicture { rows: rows.collect(), tolerance: of.tolerance, figure: figure.as_str() };
    let caption = format!(
        "{figure} with each setting over {figure} without it, with bounds. Left is better; within the shaded \
         range a setting makes no difference. A line without a cap is open at that end."
    );
    let kind = format!("effects-{}", figure.as_str().replace('.', "-"));
    in_widths(&kind, outline, &caption, &|options| effects::draw(&drawn, options))
}

fn colour(word: SettingWord) -> &'static str {
    match word {
        SettingWord::Helps => "var(--ll-pass,#1a7f37)",
        SettingWord::Hurts => "var(--ll-deadline,#d4372c)",
        SettingWord::NoDifference => MUTED,
        SettingWord::Undecided => "var(--ll-inconclusive,#9a6700)",
    }
}

/// What a search will do, for how long, and what it cannot find out.
pub fn before(tune: &TunePlan, pairs: usize, slot: Nanos, width: usize, style: Style) -> String {
    let each =
        |cell: &dyn Fn(&Candidate) -> Cell| tune.candidates.iter().map(cell).collect::<Vec<_>>();
    let table = Table::new(
        "Settings to try",
        vec![
            Column::new("setting", 0, each(&|one| one.name.clone().into())).left(),
            Column::new("writes", 0, each(&|one| change(one).into())).left(),
            Column::new("effect", 2, each(&|one| one.effect.clone().into())).left(),
            Column::new("cost", 1, each(&|one| one.cost.clone().into())).left(),
        ],
    );
    let figures: Vec<&str> = tune.figures.iter().map(|figure| figure.as_str()).collect();
    let plan = format!(
        "Tries {} on this machine, in up to {} pairs of slots of {} each, for at most {}; ends earlier if all are \
         decided. Each slot sets about half of them, reads them back, and puts them back at its end.",
        counted(tune.candidates.len() as u64, "setting", "settings"),
        pairs,
        span(slot),
        span(tune.time_ns)
    );
    let judged = format!(
        "Judged by {}; a change below {:.0} % counts as no difference.",
        figures.join(", "),
        tune.tolerance * 100.0
    );
    let unknown = format!(
        "Not to be known from this: what needs longer than {} to act (fragmentation, heat), what needs a boot (kernel \
         parameters), and other loads than this one.",
        span(slot)
    );
    let short = (pairs < FEW_PAIRS).then(|| {
        format!(
            "{pairs} pairs are few: no setting can be decided in fewer than about {FEW_PAIRS}, however large its \
             effect. Allow more time with --for."
        )
    });
    let sections = [
        Some(
            Section::new("plan", "Plan")
                .without_title()
                .texts([plan, judged, unknown].into_iter().chain(short)),
        ),
        Some(Section::new("settings", "Settings to try").table(table)),
        (!tune.left_out.is_empty()).then(|| left_out(&tune.left_out)),
    ];
    to_terminal(&sections.into_iter().flatten().collect::<Vec<_>>(), width, style)
}

/// Bets on coins need about this many to win, even if each wins.
pub const FEW_PAIRS: usize = 35;

/// Adds what a search has found to the diagnoses of its machine: a remedy that is proven says by how much, and one
/// that did nothing is not recommended again.
pub fn add_results(diagnoses: &mut [Diagnosis], of: &TuneResult) {
    for diagnosis in diagnoses {
        let is_remedy = |one: &&SettingResult| one.setting.check.as_ref() == Some(&diagnosis.code);
        let Some(found) = of.settings.iter().find(is_remedy) else { continue };
        let told = match found.word {
            SettingWord::Undecided => continue,
            SettingWord::Helps => format!("The remedy is proven here: {}.", effects_of(found)),
            SettingWord::Hurts => format!("The remedy hurts here: {}.", effects_of(found)),
            SettingWord::NoDifference => {
                format!("The remedy makes no difference here above {:.0} %.", of.tolerance * 100.0)
            }
        };
        diagnosis.text = format!("{} {told}", diagnosis.text);
        if found.word != SettingWord::Helps {
            (diagnosis.remedy, diagnosis.undo) = (None, None);
        }
    }
}

/// How to go on after the answer.
pub fn next_step(of: &TuneResult) -> Option<Line> {
    (!of.chosen().is_empty()).then(|| Line::new("sudo latlab tune --apply").word(&of.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::doctor::{Effect, Topic};
    use latlab_model::run::Severity;
    use latlab_model::tune::JointResult;

    fn setting(name: &str, word: SettingWord, ratio: f64, influence: Influence) -> SettingResult {
        let setting = Candidate {
            name: name.to_string(),
            check: Some(name.to_string()),
            kernel_files: vec![format!("vm.{name}=1").parse().unwrap()],
            before: vec![Some("0".to_string())],
            ..Candidate::default()
        };
        let (low, high) = (Some(ratio * 0.9), Some(ratio * 1.1));
        let figure = TunedFigure::P99_9;
        let effects = vec![FigureEffect { figure, influence, ratio, low, high }];
        let more_ns = (word == SettingWord::Undecided).then_some(Nanos(720_000_000_000));
        SettingResult { setting, word, effects, more_ns }
    }

    fn result() -> TuneResult {
        TuneResult {
            id: "search".to_string(),
            host: None,
            kernel: String::new(),
            tolerance: 0.1,
            pairs: 80,
            planned_pairs: 145,
            slot_ns: Nanos(8_000_000_000),
            is_decided: false,
            untouched: Vec::new(),
            untouched_runs: 20,
            settings: vec![
                setting("irqs", SettingWord::Helps, 0.61, Influence::Lowers),
                setting("rps", SettingWord::Hurts, 1.5, Influence::Raises),
                setting("ksm", SettingWord::NoDifference, 1.01, Influence::NoDifference),
                setting("thp", SettingWord::Undecided, 0.9, Influence::Undecided),
            ],
            joint: vec![JointResult {
                settings: ("ksm".to_string(), "thp".to_string()),
                figure: TunedFigure::P99_9,
                ratio: 0.5,
            }],
            left_out: Vec::new(),
            confirmed: Some(Confirmed {
                id: "fresh".to_string(),
                settings: vec!["irqs".to_string()],
                runs: 8,
                figure: TunedFigure::P99_9,
                ratio: Some(0.6),
                interval: Some((0.5, 0.7)),
                misses: Some((41, 6)),
            }),
        }
    }

    #[test]
    fn the_answer_comes_first_and_has_its_bounds() {
        assert_eq!(
            headline(&result()),
            "1 of 4 settings helps: irqs (p99.9 x0.61, 0.55 to 0.67). 1 hurts: rps (p99.9 x1.50, 1.35 to 1.65). ksm and \
             thp help more together than alone (p99.9 x0.50). 1 makes no difference above 10 %. 1 undecided, about 12 \
             min more for those that show anything. Together (irqs) against the untouched machine, in 8 fresh runs a \
             side: p99.9 x0.60 (95 %: 0.50 to 0.70); deadline misses 41 to 6."
        );
        let text = show(&result(), 100, Style::default());
        assert!(text.contains("x0.61 (0.55 to 0.67)"), "{text}");
        assert!(text.contains("/proc/sys/vm/irqs 0 -> 1"), "{text}");
        let page = page(&result());
        assert_eq!(page.matches("data-setting=\"irqs\"").count(), 3, "a picture of each width");
    }

    /// Invariant (tune): A remedy that did nothing here is not recommended again, and a proven one says its figure.
    #[test]
    fn diagnoses_say_what_a_search_has_found() {
        let diagnosis = |code: &str| Diagnosis {
            code: code.to_string(),
            severity: Severity::Warning,
            topic: Topic::Kernel,
            effect: Effect::NONE,
            text: "Seen.".to_string(),
            file: String::new(),
            value: String::new(),
            why: String::new(),
            cost: String::new(),
            remedy: Some(Line::new("echo 1")),
            undo: None,
        };
        let mut all = ["irqs", "ksm", "thp", "other"].map(diagnosis);
        add_results(&mut all, &result());
        let texts = all.each_ref().map(|one| (one.text.as_str(), one.remedy.is_some()));
        assert_eq!(
            texts,
            [
                ("Seen. The remedy is proven here: p99.9 x0.61, 0.55 to 0.67.", true),
                ("Seen. The remedy makes no difference here above 10 %.", false),
                ("Seen.", true),
                ("Seen.", true),
            ]
        );
    }
}
