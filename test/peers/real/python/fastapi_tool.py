"""A tool in FastAPI on uvicorn, with a pydantic model of the invocation; it posts its results with requests."""

from typing import Any

import uvicorn
from fastapi import BackgroundTasks, FastAPI, Request, Response
from pydantic import BaseModel

from deliver import deliver
from operations import toolset
from serve import listening_socket

app = FastAPI()


class Invocation(BaseModel):
    operation: str
    arguments: dict[str, Any]
    id: str
    call_id: str | None = None
    callback_url: str
    group_id: str
    thread_ancestors: list[str] | None = None
    user_id: str | None = None


@app.get("/.well-known/rap-toolset")
def discovery(request: Request):
    return toolset("fastapi-tool", f"{request.base_url}invoke")


@app.post("/invoke")
def invoke(invocation: Invocation, tasks: BackgroundTasks):
    tasks.add_task(deliver, invocation.model_dump())
    return Response()


@app.post("/close_thread")
@app.post("/cancel_tool_call")
def notice():
    return Response()


if __name__ == "__main__":
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening_socket()])
