/** The content of a fixture file without its version. */
export interface Fixtures extends Readonly<Record<string, unknown>> {
  readonly fixtures?: readonly object[];
  readonly toolset?: Readonly<Record<string, unknown>> & { readonly tools: readonly object[] };
}

/** An operation of the first tool server. Its result shows that the runtime has handled every earlier message. */
export const PING = 'ping';

const PING_TOOL = { name: PING, description: 'Answers pong', inputSchema: { type: 'object' } };

/** The fixture file of a tool server. @param hasPing whether it also has the operation `ping`, as the first server has */
export function fixtureFile({ fixtures = [], toolset, ...rest }: Fixtures, hasPing = true) {
  const file = { version: 1, ...rest, ...(toolset !== undefined && { toolset }), fixtures };
  if (!hasPing) return file;
  const ping = { match: { operation: PING }, reply: { payload: 'pong' } };
  return {
    ...file,
    ...(toolset && { toolset: { ...toolset, tools: [...toolset.tools, PING_TOOL] } }),
    fixtures: [...fixtures, ping],
  };
}
