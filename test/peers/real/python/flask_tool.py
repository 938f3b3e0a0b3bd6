"""A tool in Flask, served by Werkzeug, which posts its results with requests."""

import json
import threading

from flask import Flask, request
from werkzeug.serving import make_server

from deliver import can_be_answered, deliver
from operations import toolset

app = Flask(__name__)


@app.get("/.well-known/rap-toolset")
def discovery():
    return toolset("flask-tool", f"{request.host_url}invoke")


@app.post("/invoke")
def invoke():
    invocation = request.get_json()
    if can_be_answered(invocation):
        threading.Thread(target=deliver, args=(invocation,)).start()
    return "", 200


@app.post("/close_thread")
@app.post("/cancel_tool_call")
def notice():
    return "", 200


if __name__ == "__main__":
    server = make_server("127.0.0.1", 0, app, threaded=True)
    print(json.dumps({"port": server.server_port}), flush=True)
    server.serve_forever()
