import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers as the tool does, see ../README.md; `entries` are those of its log. */
export function oddTool(env: Readonly<Record<string, string>>): {
  (request: IncomingMessage, response: ServerResponse): Promise<unknown>;
  readonly entries: readonly unknown[];
};
