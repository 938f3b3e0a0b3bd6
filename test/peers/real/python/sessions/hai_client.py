"""The vendor's SDK of agent sessions in front of a mock platform: `hai_client.py <case> <sync|async>`.

SESSION_URL and API_KEY name the platform. Prints one JSON object: what the SDK returned, or the error that it raised. The SDK's types parse
every answer of the platform.
"""

import asyncio
import inspect
import json
import os
import sys

import hai_agents
from pydantic import BaseModel
from receiver import Receiver

URL, KEY = (os.environ[name] for name in ("SESSION_URL", "API_KEY"))
LARGE = 6_000_000
calls = []


@hai_agents.tool
def lookup_order(order_id: str) -> str:
    """Find an order."""
    calls.append(order_id)
    if order_id == "large":
        return "x" * LARGE
    if order_id == "none":
        raise ValueError("order not found")
    return f"{order_id} shipped"


class Order(BaseModel):
    parcel: str


AGENT = {"name": "client", "description": "Answers with its tools", "environments": []}


async def run(client, case):
    """Each method returns a value, or an awaitable in the asynchronous client."""

    async def done(value):
        return await value if inspect.isawaitable(value) else value

    tools = [lookup_order]
    quick = {"wait_for_seconds": 1, "timeout_seconds": 60}
    if case == "schema":
        result = await done(client.run_session(agent="an-agent", answer_schema=Order, tools=tools, **quick))
        return {"answer": result.answer.parcel, "outcome": result.outcome}
    if case in ("run", "large", "reused", "many", "faults", "failed", "evicted", "lost"):
        result = await done(client.run_session(agent=AGENT, messages="Where?", tools=tools, **quick))
        return seen(result)
    if case == "two-loops":
        handle = await done(client.start_session(agent=AGENT, tools=tools))
        loops = await at_once(lambda: handle.wait_for_completion(**quick))
        return seen(loops[0])
    if case == "stream":
        handle = await done(client.start_session(agent=AGENT, tools=tools))
        stream = handle.stream(wait_for_seconds=1, timeout_seconds=60)
        if hasattr(stream, "__aiter__"):
            types = [event.type async for event in stream]
        else:
            types = [event.type for event in stream]
        return {"types": types, "typed": True}
    if case == "idle":
        handle = await done(client.start_session(agent=AGENT, tools=tools))
        result = await done(handle.wait_for_completion(**quick))
        first = seen(result)
        await done(handle.send_message("and B1?"))
        result = await done(handle.wait_for_completion(from_index=result.next_from_index, **quick))
        return {"first": first, "second": seen(result)}
    if case == "steer":
        session = await done(client.sessions.create_session(agent="an-agent"))
        await done(client.sessions.pause_session(session.id))
        paused = await done(client.sessions.get_session_status(session.id))
        await done(client.sessions.resume_session(session.id))
        await done(client.sessions.force_session_answer(session.id))
        end = await done(client.sessions.get_session_status(session.id))
        got = await done(client.sessions.get_session(session.id))
        listed = await done(client.sessions.list_sessions(status=["completed"]))
        events = await done(client.sessions.list_session_events(session.id))
        quota = await done(client.sessions.get_session_quota())
        share = await done(client.sessions.share_session(session.id))
        await done(client.sessions.submit_session_feedback(session.id, success=True))
        return {
            "paused": paused.status,
            "pending": len(paused.pending_tool_calls),
            "end": end.status,
            "agent": got.request.agent,
            "listed": [item.agent for item in listed.items],
            "events": events.total,
            "available": quota.available,
            "share": share.share_url,
        }
    if case == "webhooks":
        receiver = Receiver()
        enabled = ["*", "session.awaiting_tool_results", "session.completed"]
        old = await done(client.webhooks.create_webhook(url=receiver.url, enabled_events=enabled))
        new = await done(client.webhooks.rotate_webhook_secret(old.id))
        ping = await done(client.webhooks.ping_webhook(old.id))
        pinged = receiver.next([old.secret, new.secret])
        await done(client.webhooks.update_webhook(old.id, description="ours"))
        result = await done(client.run_session(agent=AGENT, messages="Where?", tools=tools, **quick))
        events = receiver.until("session.completed", [new.secret])
        got = await done(client.webhooks.get_webhook(old.id))
        offered = await done(client.webhooks.list_webhook_events())
        await done(client.webhooks.delete_webhook(old.id))
        listed = await done(client.webhooks.list_webhooks())
        return {
            "status": result.status,
            "ping": [ping.response_status, pinged.type],
            "webhook": [got.description, got.last_delivery_status, hasattr(got, "secret")],
            "offered": len(offered),
            "listed": listed.total,
            "events": events,
        }
    raise ValueError(case)


async def at_once(work):
    """Runs it twice at the same time: in threads, or in this event loop."""
    started = await asyncio.gather(*(asyncio.to_thread(work) for _ in range(2)))
    return await asyncio.gather(*started) if inspect.isawaitable(started[0]) else started


def seen(result):
    return {
        "status": result.status,
        "answer": result.answer,
        "calls": calls[:],
        "outcome": result.outcome,
        "error": result.error,
        "error_code": result.error_code,
        # an event of a type that the SDK does not know is a TrajectoryEvent
        "untyped": [event.type for event in result.events if type(event).__name__ == "TrajectoryEvent"],
    }


def main(case, way):
    options = {"base_url": URL, "api_key": KEY}
    if way == "async":
        return asyncio.run(run(hai_agents.AsyncClient(**options), case))
    return asyncio.run(run(hai_agents.Client(**options), case))


if __name__ == "__main__":
    try:
        print(json.dumps(main(*sys.argv[1:3]), default=str))
    except Exception as error:
        print(json.dumps({"raised": type(error).__name__}))
        print(error, file=sys.stderr)
        sys.exit(1)
