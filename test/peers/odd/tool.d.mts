import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers as the tool does, see ../README.md. */
export function oddTool(
  env: Readonly<Record<string, string>>,
): (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;
