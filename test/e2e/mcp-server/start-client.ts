import { fileURLToPath } from 'node:url';
import { type CallToolResult, Client, type RequestOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { eventually } from '../support/eventually.js';

const BIN = fileURLToPath(new URL('../../../bin/protocol-cli.cjs', import.meta.url));

interface ClientOptions {
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The official client, connected to `mcp-server` as a process. */
export interface AgentClient extends AsyncDisposable {
  readonly client: Client;
  /** The answer and its text. The client validates its data against the schema of the tool. */
  call(name: string, args: object, options?: RequestOptions): Promise<CallToolResult & { text: string }>;
  stderr(): string;
  isRunning(): boolean;
}

export async function startClient({ args = [], cwd, env }: ClientOptions = {}): Promise<AgentClient> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, 'mcp-server', ...args],
    env: { PATH: process.env['PATH'] ?? '', HOME: '/proc/nowhere', ...env },
    stderr: 'pipe',
    ...(cwd !== undefined && { cwd }),
  });
  let said = '';
  transport.stderr?.on('data', chunk => {
    said += chunk;
  });
  const client = new Client({ name: 'x', version: '1' });
  await client.connect(transport);
  await client.listTools(); // gives it the schemas
  const { pid } = transport;
  return {
    client,
    async call(name, given, options) {
      const answer = (await client.callTool({ name, arguments: { ...given } }, options)) as CallToolResult;
      const [first] = answer.content;
      return { ...answer, text: first?.type === 'text' ? first.text : '' };
    },
    stderr: () => said,
    isRunning: () => isRunning(pid),
    async [Symbol.asyncDispose]() {
      await client.close();
      await eventually('it has ended', () => !isRunning(pid));
    },
  };
}

function isRunning(pid: number | null): boolean {
  try {
    return pid !== null && process.kill(pid, 0);
  } catch {
    return false;
  }
}
