import type { Client } from '@modelcontextprotocol/client';

/** Version 1 of the official SDK, which comes with the servers that are made with it. */
const SDK = '@modelcontextprotocol/sdk/client';

interface OlderClient extends Pick<Client, 'callTool' | 'close'> {
  connect(transport: object): Promise<void>;
}

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A client of version 1 of the SDK, connected to a program that it starts, or to a URL. */
export async function olderMcpClient(server: Program | URL): Promise<OlderClient> {
  const { Client }: { Client: new (about: object) => OlderClient } = await import(`${SDK}/index.js`);
  const { StdioClientTransport }: { StdioClientTransport: new (program: object) => object } = await import(
    `${SDK}/stdio.js`
  );
  const { StreamableHTTPClientTransport }: { StreamableHTTPClientTransport: new (url: URL) => object } =
    await import(`${SDK}/streamableHttp.js`);
  const client = new Client({ name: 'x', version: '1' });
  await client.connect(
    server instanceof URL
      ? new StreamableHTTPClientTransport(server)
      : new StdioClientTransport({ ...server, stderr: 'ignore' }),
  );
  return client;
}
