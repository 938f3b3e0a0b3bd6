import {
  CLIENT_CAPABILITIES_META_KEY,
  type LoggingLevel,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod/mini';
import { isRecord, valueAt } from '../../util/values.js';
import { ELICIT, elicitParams, type LocalClient } from '../client-messages.js';

/** The longest delay of a Node.js timer: a person may take any time, and the fixture limits it. */
const MAX_TIMER_MS = 2 ** 31 - 1;

type Elicit = NonNullable<LocalClient['elicit']>;

/**
 * The client of a `tools/call` request.
 * @param ask asks a form in the answer to the request (2026-07-28); null where the server sends requests of its own
 */
export function clientOf(server: Server, { mcpReq }: ServerContext, ask: Elicit | null): LocalClient {
  const { _meta: meta, envelope } = mcpReq;
  const capabilities = ask ? valueAt(envelope, CLIENT_CAPABILITIES_META_KEY) : server.getClientCapabilities();
  const send: Elicit = (form, signal) =>
    mcpReq.send({ method: ELICIT, params: elicitParams(form) }, z.unknown(), {
      signal,
      timeout: MAX_TIMER_MS,
    });
  return {
    elicit: isRecord(valueAt(capabilities, 'elicitation')) ? (ask ?? send) : null,
    async notify(method, params) {
      const isProgress = method === 'notifications/progress';
      const token = isProgress ? (params['progressToken'] ?? meta?.progressToken) : undefined;
      if (isProgress && token === undefined) return 'the client asked for no progress';
      const { level, data, logger } = params;
      if (method === 'notifications/message') {
        await mcpReq.log(level as LoggingLevel, data, logger as string | undefined); // the client may have set a level
        return null;
      }
      await mcpReq.notify({
        method,
        params: isProgress ? { ...params, progressToken: token } : { ...params },
      });
      return null;
    },
  };
}
