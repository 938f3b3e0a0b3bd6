import { node, python } from './kits.mjs';
import { expectVerdict } from './verdict.mjs';

/** Agents on the frameworks and tool runners that people use, each with its defaults, driven by a scripted model. */

/** Scenarios whose outcome the framework decides; an agent starts once for each, and again if a rule fails. */
const SCENARIOS = [
  ...['result', 'texts', 'content', 'parallel-calls', 'unknown-operation', 'arguments'],
  'subscription-foreign',
];

export const AGENTS = [
  {
    name: 'OpenAI Agents SDK',
    kit: 'python',
    start: python('agents/openai_agents.py'),
    model: 'openai',
    version: ['python/requirements.txt', 'openai-agents'],
    failed: { 'RT-SUB': 'add events in `call_model_input_filter` of the `RunConfig`' },
  },
  {
    name: 'pydantic-ai',
    kit: 'python',
    start: python('agents/pydantic_ai_agent.py'),
    model: 'openai',
    version: ['python/requirements.txt', 'pydantic-ai-slim[openai]'],
    failed: { 'RT-SUB': 'add events by `capabilities=[ProcessHistory(…)]`' },
  },
  {
    name: 'LangGraph',
    kit: 'python',
    start: python('agents/langgraph_agent.py'),
    model: 'openai',
    version: ['python/requirements.txt', 'langgraph'],
    failed: { 'RT-SUB': 'add events in a `before_model` middleware' },
  },
  {
    name: 'smolagents',
    kit: 'python',
    start: python('agents/smolagents_agent.py'),
    model: 'openai',
    version: ['python/requirements.txt', 'smolagents[openai]'],
    scenarios: ['result', 'parallel-calls', 'subscription-foreign'], // it fails in each
    failed: {
      'RT-TEXT':
        'it writes `Observation:` before a result, strips it, and joins the results of one message; no option changes that',
      'RT-SUB': 'append a `TaskStep` for each event in `step_callbacks`',
    },
  },
  {
    name: 'Anthropic tool runner, Python',
    kit: 'python',
    start: python('agents/anthropic_runner.py'),
    model: 'anthropic',
    version: ['python/requirements.txt', 'anthropic'],
    failed: {
      'RT-SUB':
        'in the loop, `append_messages` with the message, `generate_tool_call_response()` and the events',
    },
  },
  {
    name: 'Anthropic tool runner, TypeScript',
    kit: 'node',
    start: node('agents/anthropic-runner.mjs'),
    model: 'anthropic',
    version: ['node/package.json', '@anthropic-ai/sdk'],
    failed: {
      'RT-SUB': 'in the loop, `pushMessages` with the message, `generateToolResponse()` and the events',
    },
  },
  {
    name: 'AI SDK',
    kit: 'node',
    start: node('agents/ai-sdk.mjs'),
    model: 'openai',
    version: ['node/package.json', 'ai'],
    failed: { 'RT-SUB': 'add events in `prepareStep`' },
  },
];

/** The verdict of `check --runtime --model` is the expected one. */
export async function tryAgent({ start, model, scenarios = SCENARIOS, failed, warnings }) {
  const selected = scenarios.flatMap(name => ['--scenario', name]);
  const command = ['--runtime', start, '--model', model, '--probe-timeout', '15s'];
  await expectVerdict([...command, ...selected], { failed, warnings });
}
