import { createHmac } from 'node:crypto';

/** The headers of the agent-session platform's webhooks. */
export const PLATFORM_HEADERS = {
  signature: 'X-H-Webhook-Signature',
  timestamp: 'X-H-Webhook-Timestamp',
} as const;

/** Signs a webhook of the agent-session platform (platforms). @param timestamp in seconds since 1970, as its header has it */
export function platformSignature(secret: string, timestamp: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`;
}
