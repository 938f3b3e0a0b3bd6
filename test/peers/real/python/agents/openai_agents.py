"""An agent on OpenAI's Agents SDK, which uses the Responses API."""

import json

from agents import Agent, FunctionTool, Runner, set_tracing_disabled

from rap_tools import PROMPT, RapTools

set_tracing_disabled(True)


def function_tool(tools, tool):
    async def run(_context, arguments):
        return await tools.call_async(tool["name"], json.loads(arguments or "{}"))

    return FunctionTool(
        name=tool["name"],
        description=tool["description"],
        params_json_schema=tool["inputSchema"],
        on_invoke_tool=run,
        strict_json_schema=False,
    )


with RapTools() as tools:
    agent = Agent(name="agent", model="gpt-5", tools=[function_tool(tools, tool) for tool in tools.all])
    print(Runner.run_sync(agent, PROMPT, max_turns=50).final_output)
