import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.js';

export const MCP_PEER = fileURLToPath(new URL('../../peers/mcp-server.mjs', import.meta.url));
const EVERYTHING = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);

export const SDK_PEER = fileURLToPath(new URL('../../peers/mcp-sdk-server.mjs', import.meta.url));

/** The command that starts the peer made with the SDK of the newest protocol version. */
export const sdkPeerCommand = (...options: string[]) => command(SDK_PEER, ...options);

/** The command that starts our own peer over stdio. */
export const peerCommand = (...options: string[]) => command(MCP_PEER, ...options);
/** The same for the reference server of MCP. */
export const everythingCommand = () => command(EVERYTHING, 'stdio');

function command(...words: string[]): string {
  return [process.execPath, ...words].map(word => `'${word}'`).join(' ');
}

export interface McpServer extends AsyncDisposable {
  readonly url: string;
}

/** Our own peer over Streamable HTTP. */
export const startMcpPeer = (...options: string[]) => startPeer(MCP_PEER, '--http', '0', ...options);

/** The peer made with the SDK, over Streamable HTTP. */
export const startSdkPeer = (...options: string[]) => startPeer(SDK_PEER, '--http', ...options);

async function startPeer(...words: string[]): Promise<McpServer> {
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise<string>(resolve => child.stdout.once('data', data => resolve(String(data))));
  return running(child, JSON.parse(line).port);
}

/** The reference server of MCP over Streamable HTTP. */
export async function startEverything(): Promise<McpServer> {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], { stdio: 'ignore', env });
  await eventually('the reference server listens', () =>
    fetch(`http://127.0.0.1:${port}/mcp`).then(
      () => true,
      () => false,
    ),
  );
  return running(child, port);
}

function running(child: ChildProcess, port: number): McpServer {
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
    },
  };
}

export function freePort(): Promise<number> {
  const server = createServer();
  return new Promise(resolve =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    }),
  );
}

/** What a peer wrote to the file of its `--log`. */
export async function logOf(file: string): Promise<Readonly<Record<string, unknown>>[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line));
}
