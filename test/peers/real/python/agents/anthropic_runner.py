"""An agent on the tool runner of Anthropic's SDK for Python."""

import anthropic
from anthropic.lib.tools import BetaFunctionTool

from rap_tools import PROMPT, RapTools


def beta_tool(tools, tool):
    def run(**arguments):
        return tools.call(tool["name"], arguments)

    return BetaFunctionTool(run, name=tool["name"], description=tool["description"], input_schema=tool["inputSchema"])


with RapTools() as tools:
    runner = anthropic.Anthropic().beta.messages.tool_runner(
        model="claude",
        max_tokens=1000,
        tools=[beta_tool(tools, tool) for tool in tools.all],
        messages=[{"role": "user", "content": PROMPT}],
    )
    for message in runner:
        last = message
    print(last.content[-1].text if last.content else "")
