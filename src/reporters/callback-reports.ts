import type { Arrival, Exchange } from '../exchange/exchange.js';
import { bareUrl } from '../text/redact.js';
import { since } from '../text/since.js';
import type { CallReport } from './report-schema.js';

type CallbackReport = CallReport['callbacks'][number];

/** What is reported of everything that came to a call's callback URL. */
export function callbackReports({ arrivals, attempts, dialect }: Exchange): CallbackReport[] {
  if (dialect === 'mcp') return []; // what the server sends meanwhile are no callbacks
  const sentAt = attempts[0]?.sentAt ?? 0;
  return arrivals.map(arrival => callbackReport(arrival, sentAt));
}

function callbackReport(
  { at, verdict, message, status, broken, size }: Arrival,
  sentAt: number,
): CallbackReport {
  return {
    type: message?.type ?? null,
    ms: since(at, sentAt),
    verdict: verdict.kind,
    status: status ?? (broken === undefined ? verdict.status : null),
    ...((status ?? verdict.status) !== verdict.status && { ourStatus: verdict.status }),
    ...('reason' in verdict && { reason: verdict.reason }),
    bytes: size,
    ...(message?.type === 'subscription_event' && { text: message.text }),
    ...(message?.type === 'oauth' && { auth_url: bareUrl(message.auth_url) }),
  };
}
