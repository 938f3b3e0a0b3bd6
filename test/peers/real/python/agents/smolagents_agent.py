"""A tool-calling agent on smolagents, which uses Chat Completions."""

import os

from smolagents import OpenAIModel, Tool, ToolCallingAgent

from rap_tools import PROMPT, RapTools


def smol_tool(tools, tool):
    properties = tool["inputSchema"].get("properties", {})
    required = tool["inputSchema"].get("required", [])

    class RapTool(Tool):
        name = tool["name"]
        description = tool["description"]
        inputs = {
            key: {"type": "any", "description": "", **({} if key in required else {"nullable": True})}
            for key in properties
        }
        output_type = "string"
        skip_forward_signature_validation = True

        def forward(self, **arguments):
            return tools.call(tool["name"], arguments)

    return RapTool()


with RapTools() as tools:
    model = OpenAIModel("gpt-5", api_base=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"])
    print(ToolCallingAgent([smol_tool(tools, tool) for tool in tools.all], model).run(PROMPT))
