import type { IncomingMessage, ServerResponse } from 'node:http';

/** A right tool with the peculiarity of a framework, see ../README.md. */
export function peculiarTool(env: Readonly<Record<string, string>>): {
  (request: IncomingMessage, response: ServerResponse): Promise<unknown>;
  readonly entries: readonly unknown[];
};
