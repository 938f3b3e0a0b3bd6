import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

// The client that MCP's conformance suite starts for each of its client scenarios: it makes the calls of the scenario with protocol-cli.
// `conformance-client.mjs <url>`

const PROGRAM = fileURLToPath(new URL('../../../../../bin/protocol-cli.cjs', import.meta.url));
const [url] = process.argv.slice(2);
const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;

const protocolCli = (command, ...args) =>
  promisify(execFile)(process.execPath, [PROGRAM, command, '--mcp', url, ...args]);
const call = (tool, args = {}, ...more) =>
  protocolCli('invoke', tool, '--args', JSON.stringify(args), '--yes', ...more);
const toolset = async () => JSON.parse((await protocolCli('toolset', '-o', 'json')).stdout);

const SCENARIOS = {
  tools_call: () => call('add_numbers', { a: 5, b: 3 }),
  'elicitation-sep1034-client-defaults': () =>
    call('test_client_elicitation_defaults', {}, '--choose', 'default'),
  'sse-retry': () => call('test_reconnection'),
  'http-standard-headers': () => call('test_headers'),
  'http-invalid-tool-headers': () => call('valid_tool', { region: 'us-west1' }),
  async 'http-custom-headers'() {
    for (const { name, arguments: args } of JSON.parse(context).toolCalls)
      await call(name, args, '--no-validate');
  },
  async 'sep-2322-client-request-state'() {
    const confirm = ['--choose', '{"confirmed":true}'];
    await call('test_mrtr_echo_state', {}, ...confirm);
    await call('test_mrtr_unrelated');
    await call('test_mrtr_no_state', {}, ...confirm);
    await call('test_mrtr_no_result_type');
  },
  async 'json-schema-2020-12-preservation'() {
    const { tools } = await toolset();
    const { inputSchema } = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
    await call('json_schema_echo', { schema: inputSchema });
  },
};

await (SCENARIOS[scenario] ?? toolset)();
