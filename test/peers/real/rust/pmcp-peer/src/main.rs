//! A server and a client on pmcp: `pmcp-peer stdio | http | client <calls> <url>`.

use std::sync::Arc;

use async_trait::async_trait;
use pmcp::{
    CallToolResult, Client, ClientCapabilities, Content, Error, RequestHandlerExtra, Result, Server, ToolHandler,
    server::{
        ToolOutput,
        streamable_http_server::StreamableHttpServer,
        tool_middleware::{ToolContext, ToolMiddleware},
    },
    shared::streamable_http::{StreamableHttpTransport, StreamableHttpTransportConfig},
    types::ToolInfo,
};
use serde_json::{Map, Value, json};

type Answer = fn(Value) -> Result<ToolOutput>;

struct Tool {
    info: ToolInfo,
    answer: Answer,
}

#[async_trait]
impl ToolHandler for Tool {
    async fn handle(&self, _: Value, _: RequestHandlerExtra) -> Result<Value> {
        Err(Error::internal("handle_output answers"))
    }

    fn metadata(&self) -> Option<ToolInfo> {
        Some(self.info.clone())
    }

    async fn handle_output(&self, args: Value, _: RequestHandlerExtra) -> Result<ToolOutput> {
        (self.answer)(args)
    }
}

/// Takes a key out of every payload; pmcp does not run it for a `ToolOutput::Result`.
struct Redaction;

#[async_trait]
impl ToolMiddleware for Redaction {
    async fn on_response(&self, _: &str, result: &mut Result<Value>, _: &ToolContext) -> Result<()> {
        if let Ok(Value::Object(members)) = result {
            members.remove("token");
        }
        Ok(())
    }
}

fn payload(value: Value) -> Result<ToolOutput> {
    Ok(ToolOutput::Payload(value))
}

fn tools() -> Vec<(&'static str, Option<Value>, Answer)> {
    let number = json!({ "type": "object", "properties": { "sum": { "type": "integer" } }, "required": ["sum"] });
    vec![
        ("greet", None, |args| payload(json!(format!("Hello, {}", args["name"].as_str().unwrap_or_default())))),
        ("sum", Some(number), |args| {
            payload(json!({ "sum": args["a"].as_i64().unwrap_or(0) + args["b"].as_i64().unwrap_or(0) }))
        }),
        ("secret", None, |_| payload(json!({ "user": "ada", "token": "t-123" }))),
        ("result", None, |_| {
            let result = CallToolResult::new(vec![Content::text("token t-123")]);
            Ok(ToolOutput::Result(result.with_structured_content(json!({ "token": "t-123" }))))
        }),
        ("wrapped", None, |_| payload(json!({ "content": [{ "type": "text", "text": "inner" }], "isError": false }))),
        ("fail", None, |_| Err(Error::internal("disk full"))),
        ("reject", None, |_| Err(Error::tool_rejected("disk full", None))),
        ("crash", None, |_| panic!("the peer falls over")),
    ]
}

fn server() -> Result<Server> {
    let builder = Server::builder().name("pmcp-peer").version("1").tool_middleware(Arc::new(Redaction));
    tools()
        .into_iter()
        .fold(builder, |builder, (name, output, answer)| {
            let info = ToolInfo::new(name, None, json!({ "type": "object" }));
            let info = match output {
                Some(schema) => info.with_output_schema(schema),
                None => info,
            };
            builder.tool(name, Tool { info, answer })
        })
        .build()
}

async fn serve_http() -> Result<()> {
    let address = ([127, 0, 0, 1], 0).into();
    let (bound, serving) = StreamableHttpServer::new_concurrent(address, Arc::new(server()?)).start().await?;
    println!("{{\"port\":{}}}", bound.port());
    serving.await.map_err(|error| Error::internal(error.to_string()))
}

async fn call(client: &Client<StreamableHttpTransport>, name: &str, args: Value) -> Value {
    match client.call_tool(name.to_owned(), args).await {
        Ok(result) => {
            let texts = result.content.iter().filter_map(|block| match block {
                Content::Text { text } => Some(text.as_str()),
                _ => None,
            });
            json!({
                "text": texts.collect::<String>(),
                "structured": result.structured_content,
                "isError": result.is_error,
            })
        }
        Err(Error::Protocol { code, data, .. }) => json!({ "code": code.as_i32(), "data": data }),
        Err(error) => json!({ "raised": error.to_string() }),
    }
}

async fn run_client(calls: &str, url: &str) -> Result<()> {
    let url = url.parse().map_err(|_| Error::internal("not a URL"))?;
    let config = StreamableHttpTransportConfig {
        url,
        extra_headers: vec![],
        auth_provider: None,
        session_id: None,
        on_resumption_token: None,
        enable_json_response: true,
        http_middleware_chain: None,
    };
    let mut client = Client::new(StreamableHttpTransport::new(config));
    let started = client.initialize(ClientCapabilities::minimal()).await?;
    let listed = client.list_tools(None).await?;
    let names: Vec<_> = listed.tools.iter().map(|tool| tool.name.clone()).collect();
    let to_make: Map<String, Value> = serde_json::from_str(calls)?;
    let mut answers = Map::new();
    for (name, args) in to_make {
        let answer = call(&client, &name, args).await;
        answers.insert(name, answer);
    }
    let (tools, calls, version) = (json!(names), Value::Object(answers), json!(started.protocol_version));
    println!("{{\"version\":{version},\"tools\":{tools},\"calls\":{calls}}}");
    Ok(())
}

#[tokio::main]
async fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["stdio"] => server()?.run_stdio().await,
        ["http"] => serve_http().await,
        ["client", calls, url] => run_client(calls, url).await,
        _ => Err(Error::internal("pmcp-peer stdio | http | client <calls> <url>")),
    }
}
