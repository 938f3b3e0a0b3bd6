import type { RequestEvent } from '../exchange/events.js';
import type { Log } from '../exchange/log.js';
import type { Refusal } from '../transport/server.js';
import { isFromTool, tellRequest } from './leg.js';
import { CALLBACK_PREFIX } from './routes/callback.js';
import { CHOICE_PREFIX } from './routes/choice.js';
import { DISCOVERY_PATH } from './routes/discovery.js';
import { INVOKE_PATH } from './routes/invocation.js';
import { NOTICES } from './routes/notices.js';
import { pathOf } from './routes/office.js';

/** Tells of a request that was not passed on, and why (threats, rows 1 to 4 and 14 to 17). What is no message of the protocol is a warning. */
export function tellRefused(log: Log, { method = '', target = '', status, reason, detail }: Refusal): void {
  const url = withoutTokens(target);
  const purpose = purposeOf(pathOf(target));
  if (!purpose) {
    const message = `a request was refused with ${status}, since ${detail}: ${method} ${url}`;
    log.emit({ kind: 'warned', message });
    return;
  }
  const hop = isFromTool(purpose) ? 'tool-side' : 'runtime-side';
  const refusal = reason === 'no-route' ? 'wrong-address' : detail;
  const leg = tellRequest(log, { purpose }, { hop, method, url, headers: {} });
  leg.answered({ status, headers: {}, refusal });
}

function purposeOf(path: string): RequestEvent['purpose'] | undefined {
  if (path === INVOKE_PATH) return 'invocation';
  if (path === DISCOVERY_PATH) return 'discovery';
  if (path.startsWith(CALLBACK_PREFIX)) return 'callback';
  if (path.startsWith(CHOICE_PREFIX)) return 'choice';
  return Object.hasOwn(NOTICES, path) ? NOTICES[path] : undefined;
}

/** Almost a token is almost a secret. */
function withoutTokens(target: string): string {
  return target.replace(/(?:[\w-]|%[\da-f]{2}){16,}/gi, '…');
}
