//! The operations that the tool offers, and the results of their calls.

use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
pub struct Invocation {
    operation: String,
    arguments: Value,
    id: String,
    call_id: Option<String>,
    pub callback_url: String,
    group_id: String,
}

pub fn toolset(name: &str, endpoint: &str) -> Value {
    let schema = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    json!({"name": name, "endpoint": endpoint, "tools": [
        {
            "name": "echo",
            "description": "Returns the text.",
            "inputSchema": schema(json!({"text": {"type": "string"}}), json!(["text"])),
            "annotations": {"readOnly": true},
        },
        {
            "name": "preview_edit",
            "description": "Shows how a file would change. Changes nothing.",
            "inputSchema": schema(
                json!({"path": {"type": "string"}, "line": {"type": "integer", "minimum": 1}}),
                json!(["path"]),
            ),
            "annotations": {"readOnly": true},
        },
        {
            "name": "unavailable",
            "description": "Always fails, as an API that limits its rate.",
            "inputSchema": schema(json!({}), json!([])),
            "annotations": {"readOnly": true},
        },
    ]})
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Echo {
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PreviewEdit {
    path: String,
    line: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unavailable {}

pub fn result(invocation: &Invocation) -> Value {
    let mut message = Map::new();
    message.insert("type".into(), json!("tool_result"));
    message.insert("group_id".into(), json!(invocation.group_id));
    message.insert("id".into(), json!(invocation.id));
    if let Some(call_id) = &invocation.call_id {
        message.insert("call_id".into(), json!(call_id));
    }
    match answer(&invocation.operation, invocation.arguments.clone()) {
        Ok((text, display_as)) => {
            message.insert("text".into(), json!(text));
            if let Some(segments) = display_as {
                message.insert("display_as".into(), segments);
            }
        }
        Err(problem) => {
            message.insert(
                "text".into(),
                json!(format!(
                    "Error: {problem}. Correct the call and send it again."
                )),
            );
        }
    }
    Value::Object(message)
}

fn answer(operation: &str, arguments: Value) -> Result<(String, Option<Value>), String> {
    let invalid = |error: serde_json::Error| format!("invalid arguments: {error}");
    match operation {
        "echo" => {
            let Echo { text } = serde_json::from_value(arguments).map_err(invalid)?;
            Ok((text, None))
        }
        "preview_edit" => {
            let edit = serde_json::from_value(arguments).map_err(invalid)?;
            preview_edit(edit)
        }
        "unavailable" => {
            let Unavailable {} = serde_json::from_value(arguments).map_err(invalid)?;
            Ok((
                "Error: API rate limit exceeded. Retry after 60 seconds.".into(),
                None,
            ))
        }
        _ => Err("unknown operation. Available: echo, preview_edit, unavailable".into()),
    }
}

fn preview_edit(
    PreviewEdit { path, line }: PreviewEdit,
) -> Result<(String, Option<Value>), String> {
    let line = line.unwrap_or(1);
    if line == 0 {
        return Err("invalid arguments: line must be at least 1".into());
    }
    let patch = format!("--- {path}\n+++ {path}\n@@ -{line} +{line} @@\n-old\n+new\n");
    let segments = json!([
        {"type": "diff", "content": {"path": path, "patch": patch}},
        {"type": "text", "content": "1 line would change"},
    ]);
    Ok((
        format!("Would replace line {line} of {path}"),
        Some(segments),
    ))
}
