"""An agent on pydantic-ai, which uses the Responses API."""

from pydantic_ai import Agent, Tool

from rap_tools import PROMPT, RapTools


def function_tool(tools, tool):
    async def run(**arguments):
        return await tools.call_async(tool["name"], arguments)

    return Tool.from_schema(run, name=tool["name"], description=tool["description"], json_schema=tool["inputSchema"])


with RapTools() as tools:
    agent = Agent("openai:gpt-5", tools=[function_tool(tools, tool) for tool in tools.all])
    print(agent.run_sync(PROMPT).output)
