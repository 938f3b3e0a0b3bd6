//! A server and a client on rmcp: `rmcp-peer stdio | http | client <calls> <url | program argument…>`.

use std::{error::Error, sync::Arc};

use rmcp::{
    ErrorData, RoleClient, RoleServer, ServerHandler, ServiceError, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::{RequestContext, RunningService},
    transport::{
        StreamableHttpClientTransport, TokioChildProcess, stdio,
        streamable_http_server::{StreamableHttpService, session::local::LocalSessionManager},
    },
};
use serde_json::{Map, Value, json};

type Failure = Box<dyn Error>;

#[derive(Clone)]
struct Peer;

fn object(value: Value) -> Arc<Map<String, Value>> {
    Arc::new(value.as_object().cloned().unwrap_or_default())
}

fn tools() -> Vec<Tool> {
    let tool = |name| Tool::new(name, "", object(json!({ "type": "object" })));
    let sum = json!({ "type": "object", "properties": { "sum": { "type": "integer" } }, "required": ["sum"] });
    let mut tools: Vec<Tool> = ["greet", "fail", "refuse", "ask"].map(tool).into();
    tools.push(tool("sum").with_raw_output_schema(object(sum)));
    tools
}

fn text(value: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(value)])
}

async fn ask(context: &RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
    let failed = |error: String| ErrorData::internal_error(error, None);
    let schema = json!({ "type": "object", "properties": { "colour": { "type": "string" } } });
    let params = json!({ "mode": "form", "message": "Which colour?", "requestedSchema": schema });
    let params = serde_json::from_value(params).map_err(|error| failed(error.to_string()))?;
    let answer = context.peer.create_elicitation(params).await.map_err(|error| failed(error.to_string()))?;
    let colour = answer.content.and_then(|content| content["colour"].as_str().map(str::to_owned));
    Ok(text(format!("{}: {}", json!(answer.action).as_str().unwrap_or_default(), colour.unwrap_or_default())))
}

impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let args = Value::Object(request.arguments.unwrap_or_default());
        let result = match request.name.as_ref() {
            "greet" => text(format!("Hello, {}", args["name"].as_str().unwrap_or_default())),
            "sum" => CallToolResult::structured(
                json!({ "sum": args["a"].as_i64().unwrap_or(0) + args["b"].as_i64().unwrap_or(0) }),
            ),
            "fail" => CallToolResult::error(vec![ContentBlock::text("disk full")]),
            "ask" => ask(&context).await?,
            _ => return Err(ErrorData::new(ErrorCode(-32050), "not today", Some(json!({ "until": "tomorrow" })))),
        };
        Ok(result.into())
    }
}

async fn serve_http() -> Result<(), Failure> {
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Peer), sessions, Default::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{{\"port\":{}}}", listener.local_addr()?.port());
    Ok(axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?)
}

async fn call(client: &RunningService<RoleClient, ()>, name: String, args: Value) -> Value {
    let params = CallToolRequestParams::new(name).with_arguments(args.as_object().cloned().unwrap_or_default());
    match client.call_tool(params).await {
        Ok(result) => {
            let texts = result.content.iter().filter_map(|block| block.as_text()).map(|block| block.text.as_str());
            json!({
                "text": texts.collect::<String>(),
                "structured": result.structured_content,
                "isError": result.is_error.unwrap_or(false),
            })
        }
        Err(ServiceError::McpError(ErrorData { code, data, .. })) => json!({ "code": code.0, "data": data }),
        Err(error) => json!({ "raised": error.to_string() }),
    }
}

async fn run_client(calls: &str, words: &[String]) -> Result<(), Failure> {
    let client = if words[0].starts_with("http") {
        ().serve(StreamableHttpClientTransport::from_uri(words[0].clone())).await?
    } else {
        let mut command = tokio::process::Command::new(&words[0]);
        command.args(&words[1..]);
        ().serve(TokioChildProcess::new(command)?).await?
    };
    let names: Vec<_> = client.list_all_tools().await?.into_iter().map(|tool| tool.name).collect();
    let version = client.peer_info().map(|info| json!(info.protocol_version)).unwrap_or_default();
    let to_make: Map<String, Value> = serde_json::from_str(calls)?;
    let mut answers = Map::new();
    for (name, args) in to_make {
        let answer = call(&client, name.clone(), args).await;
        answers.insert(name, answer);
    }
    println!("{{\"version\":{version},\"tools\":{},\"calls\":{}}}", json!(names), Value::Object(answers));
    client.cancel().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words[0].as_str() {
        "stdio" => {
            Peer.serve(stdio()).await?.waiting().await?;
            Ok(())
        }
        "http" => serve_http().await,
        _ => run_client(&words[1], &words[2..]).await,
    }
}
