import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers as the script says, see ../session-platform.mjs; the script is used up by that. */
export function platformFor(
  script: Record<string, unknown>,
): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
