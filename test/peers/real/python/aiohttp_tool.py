"""A tool in aiohttp, which posts its results with aiohttp's client."""

import asyncio

import aiohttp
from aiohttp import web
from yarl import URL

from deliver import can_be_answered
from operations import result_message, toolset
from serve import listening_socket

PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6)
routes = web.RouteTableDef()
deliveries = set()


@routes.get("/.well-known/rap-toolset")
async def discovery(request):
    return web.json_response(toolset("aiohttp-tool", f"{request.url.origin()}/invoke"))


@routes.post("/invoke")
async def invoke(request):
    invocation = await request.json()
    if can_be_answered(invocation):
        delivery = asyncio.create_task(deliver(invocation))
        deliveries.add(delivery)
        delivery.add_done_callback(deliveries.discard)
    return web.Response()


@routes.post("/close_thread")
@routes.post("/cancel_tool_call")
async def notice(_request):
    return web.Response()


async def deliver(invocation):
    url = URL(invocation["callback_url"], encoded=True)  # otherwise yarl decodes %2F in a query
    message = result_message(invocation)
    async with aiohttp.ClientSession() as session:
        for pause in (*PAUSES, None):
            try:
                async with session.post(url, json=message, allow_redirects=False) as response:
                    if response.status < 500:
                        return
            except aiohttp.ClientError as error:
                print(f"could not deliver a result: {error}", flush=True)
            if pause is not None:
                await asyncio.sleep(pause)


if __name__ == "__main__":
    app = web.Application()
    app.add_routes(routes)
    web.run_app(app, sock=listening_socket(), print=None)
