//! `mcp-tester conformance --strict` of pmcp: `pmcp-conformance <url>` prints the status of each scenario as JSON.

use std::time::Duration;

use mcp_tester::{ConformanceRunner, ServerTester};
use serde_json::{Map, json};

#[tokio::main]
async fn main() {
    let url = std::env::args().nth(1).expect("the URL of a server");
    let mut tester = ServerTester::new(&url, Duration::from_secs(30), false, None, Some("http"), None).expect("a tester");
    let report = ConformanceRunner::new(true, None).run(&mut tester).await;
    let statuses: Map<_, _> = report.tests.into_iter().map(|test| (test.name, json!(test.status))).collect();
    println!("{}", json!(statuses));
}
