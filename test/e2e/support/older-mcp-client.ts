import type { Client } from '@modelcontextprotocol/client';

/** Version 1 of the official SDK, which comes with the servers that are made with it. */
const SDK = '@modelcontextprotocol/sdk/client';

interface OlderClient extends Pick<Client, 'callTool' | 'close'> {
  connect(transport: object): Promise<void>;
}

/** A client of the SDK before, connected to a program that it starts. */
export async function olderMcpClient(program: {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}): Promise<OlderClient> {
  const { Client }: { Client: new (about: object) => OlderClient } = await import(`${SDK}/index.js`);
  const { StdioClientTransport }: { StdioClientTransport: new (program: object) => object } = await import(
    `${SDK}/stdio.js`
  );
  const client = new Client({ name: 'x', version: '1' });
  await client.connect(new StdioClientTransport({ ...program, stderr: 'ignore' }));
  return client;
}
