"""An agent on LangGraph, with LangChain's model of OpenAI, which uses Chat Completions."""

from langchain.agents import create_agent
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI

from rap_tools import PROMPT, RapTools


def structured_tool(tools, tool):
    def run(**arguments):
        return tools.call(tool["name"], arguments)

    return StructuredTool(name=tool["name"], description=tool["description"], args_schema=tool["inputSchema"], func=run)


with RapTools() as tools:
    agent = create_agent(ChatOpenAI(model="gpt-5"), [structured_tool(tools, tool) for tool in tools.all])
    state = agent.invoke({"messages": [("user", PROMPT)]}, {"recursion_limit": 100})
    print(state["messages"][-1].content)
