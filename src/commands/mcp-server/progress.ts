import type { ServerContext } from '@modelcontextprotocol/server';
import { LIMITS } from '../../util/limits.js';

/** Sends progress to a client that asks for it; undefined if it does not. */
export function progressOf({
  _meta,
  notify,
}: Pick<ServerContext['mcpReq'], '_meta' | 'notify'>): ((text: string) => void) | undefined {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  return message => {
    if (progress === LIMITS.agentProgress.value) return;
    progress++;
    const params = { progressToken, progress, message };
    void notify({ method: 'notifications/progress', params }).catch(() => {}); // the client may be gone
  };
}
