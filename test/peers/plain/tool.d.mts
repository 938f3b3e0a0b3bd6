import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers as the tool does, see ../README.md. */
export function plainTool(
  env: Readonly<Record<string, string>>,
): (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;
