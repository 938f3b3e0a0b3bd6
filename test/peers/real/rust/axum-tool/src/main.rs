//! A tool in axum, which posts its results with reqwest.

mod operations;

use std::time::Duration;

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode, header::HOST},
    routing::{get, post},
};
use operations::{Invocation, result, toolset};
use serde_json::Value;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let app = Router::new()
        .route("/.well-known/rap-toolset", get(discovery))
        .route("/invoke", post(invoke))
        .route("/close_thread", post(notice))
        .route("/cancel_tool_call", post(notice));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{{\"port\":{}}}", listener.local_addr()?.port());
    axum::serve(listener, app).await
}

async fn discovery(headers: HeaderMap) -> Json<Value> {
    let host = headers
        .get(HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or("127.0.0.1");
    Json(toolset("axum-tool", &format!("http://{host}/invoke")))
}

async fn invoke(Json(invocation): Json<Invocation>) {
    tokio::spawn(deliver(invocation));
}

async fn notice() -> StatusCode {
    StatusCode::OK
}

/// Posts the result: again after a 5xx or a lost connection, with growing pauses.
async fn deliver(invocation: Invocation) {
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .expect("a client without TLS can always be built");
    let message = result(&invocation);
    for pause in [100, 200, 400, 800, 1600] {
        match client
            .post(&invocation.callback_url)
            .json(&message)
            .send()
            .await
        {
            Ok(response) if response.status().as_u16() < 500 => return,
            _ => tokio::time::sleep(Duration::from_millis(pause)).await,
        }
    }
    eprintln!("could not deliver a result");
}
