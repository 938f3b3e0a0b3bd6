"""Runs Schemathesis against a mock platform: `check_api.py <openapi.json> <report.json>`.

SESSION_URL and API_KEY name the platform. In the document, WEBHOOK stands for the id of a webhook that is created here.
"""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

URL, KEY = (os.environ[name] for name in ("SESSION_URL", "API_KEY"))
document, report = sys.argv[1:]

body = json.dumps({"url": f"{URL}/receiver"}).encode()
headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
with urllib.request.urlopen(urllib.request.Request(f"{URL}/api/v2/webhooks", body, headers)) as response:
    webhook = json.load(response)["id"]
path = Path(document)
path.write_text(path.read_text().replace("WEBHOOK", webhook))

options = [
    *("--phases", "examples,coverage,fuzzing,stateful", "--max-examples", "30", "--continue-on-failure"),
    *("--exclude-checks", "positive_data_acceptance", "--generation-deterministic"),
    *("--no-color", "--report", "json", "--report-json-path", report),
]
command = [str(Path(sys.executable).with_name("schemathesis")), "run", document, "--url", URL]
environment = {**os.environ, "SCHEMATHESIS_HOOKS": "by_design", "PYTHONPATH": str(Path(__file__).parent)}
subprocess.run([*command, "-H", f"Authorization: Bearer {KEY}", *options], env=environment, cwd=path.parent)
