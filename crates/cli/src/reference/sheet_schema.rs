//! The JSON Schema of sheets, generated from the options of `latlab run`, for completion in
//! editors.

use crate::sheet::head::{KEYS, MOST_REPEATS};
use crate::sheet::options;
use latlab_model::campaign::Order;
use latlab_model::options::PlanOption;
use serde_json::{Map, Value, json};

pub fn schema() -> Value {
    let settings = |more: &[(&str, Value)]| {
        let options = options::options().map(|one| (one.name.to_string(), option(one)));
        let kernel =
            "The kernel that must run, or a part of its release: a row waits until it runs.";
        let kernel = ("kernel".to_string(), text(kernel));
        let more = more.iter().map(|(key, value)| (key.to_string(), value.clone()));
        options.chain([kernel]).chain(more).collect::<Map<String, Value>>()
    };
    let scenario = [("name", text("Its name in the table.")), ("about", text("What it is about."))];
    let lists: Map<String, Value> = settings(&[])
        .into_iter()
        .map(|(key, value)| (key, json!({ "type": "array", "minItems": 1, "items": value })))
        .collect();
    let mut properties = head();
    properties.extend([
        ("defaults".to_string(), table("Default options of `latlab run` for all scenarios.", settings(&[]), &[])),
        ("matrix".to_string(), table("Every scenario is measured with each of these values, and \
                                      with each combination of several.", lists, &[])),
        ("scenario".to_string(), json!({ "type": "array", "minItems": 1, "items": table("A scenario: options of `latlab run`.", settings(&scenario), &["name"]) })),
        ("published".to_string(), published()),
    ]);
    let mut schema = table(
        "A sheet of latlab: scenarios, how often and in which order they are measured.",
        properties,
        &["scenario"],
    );
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Sheet");
    schema
}

fn table(about: &str, properties: Map<String, Value>, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "description": about,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

fn number(least: u64, most: u64, about: &str) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most, "description": about })
}

fn head() -> Map<String, Value> {
    let orders: Vec<&str> = Order::ALL.iter().map(|order| order.as_str()).collect();
    let value = |key: &str| match key {
        "name" => text("Name of the campaign; default: the name of the file."),
        "about" => text("The question that the sheet answers."),
        "repeats" => number(1, MOST_REPEATS, "Number of runs of each row."),
        "order" => {
            json!({ "enum": orders, "description": "in-order: all rows, then all again; abba: \
                                                    every second time in reverse; random: each \
                                                    time in a new order." })
        }
        "seed" => {
            number(0, i64::MAX as u64, "Seed of a random order, and of the phases of the runs.")
        }
        "retries" => number(
            0,
            100,
            "Number of further attempts for a run that failed or is invalid; default: 1.",
        ),
        "cool-down" => text("Pause between two runs: \"30s\"."),
        "cool-below" => text("Wait between two runs until no thermal zone is hotter: \"55C\"."),
        _ => text("Longest time for cool-below; default: 10min."),
    };
    KEYS.iter().map(|key| (key.to_string(), value(key))).collect()
}

fn option(option: &PlanOption) -> Value {
    let form = option.form;
    let mut one = match form.choices {
        _ if form.value.is_none() => json!({ "type": "boolean" }),
        Some(choices) => json!({ "enum": choices() }),
        None => json!({ "type": ["string", "integer"] }),
    };
    if form.is_list {
        one = json!({ "anyOf": [one, { "type": "array", "items": one }] });
    }
    one["description"] = json!(option.help());
    one
}

fn published() -> Value {
    let figure = [
        ("scenario", text("Its scenario.")),
        ("of", text("What was measured, usually the kernel.")),
        ("maximum", text("The observed maximum: \"71us\".")),
        ("note", text("The words of the publication.")),
    ];
    let figure = figure.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
    let properties = [
        ("source", text("Who, where, when, on what.")),
        (
            "doubts",
            json!({ "type": "array", "items": text("What the published data leave open.") }),
        ),
        (
            "figure",
            json!({ "type": "array", "items": table("A published figure.", figure, &["scenario", "of"]) }),
        ),
    ];
    let properties = properties.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
    table("Published figures of the same experiment.", properties, &["source"])
}
