import type { EventRedactor } from '../../exchange/callback-secrets.js';
import type { Event } from '../../exchange/events.js';
import { PROTOCOL_WORDS } from '../../protocol/words.js';
import { fieldsOf } from '../../recorder/rewrite.js';
import { isCredentialHeader } from '../../text/credentials.js';
import { createRedactor } from '../../text/redact.js';
import { secretsOf } from '../headers.js';
import { wireSecrets } from '../wire-secrets.js';

/** Shorter ones may be anything, and header values are not written down anyway. */
const SHORTEST = 8;
const IDS = ['id', 'group_id', 'call_id', 'tool_call_id', 'thread_id', 'session_id'];

/**
 * What is secret in a recording, learned from its events (threats, row 25): besides what is on any wire, whatever either side sent as
 * a credential.
 */
export function recordedSecrets(): EventRedactor {
  const credentials = createRedactor();
  const secrets = wireSecrets(credentials);
  return {
    ...secrets,
    learn(event) {
      secrets.learn(event);
      for (const secret of credentialsIn(event)) credentials.add(secret);
    },
  };
}

/** Ids of the message itself are none: a recording without them tells of nothing. */
function credentialsIn(event: Event): string[] {
  if (event.kind !== 'request' && event.kind !== 'response') return [];
  const named = Object.entries(event.headers).filter(([name]) => isCredentialHeader(name));
  const told = named.length > 0 ? idsIn(event) : [];
  const isSecret = (value: string) => !told.includes(value) && !PROTOCOL_WORDS.has(value);
  return secretsOf(Object.fromEntries(named)).filter(value => value.length >= SHORTEST && isSecret(value));
}

function idsIn({ body, calls = [], thread }: Extract<Event, { kind: 'request' | 'response' }>): unknown[] {
  const fields = fieldsOf(body);
  return [...IDS.map(name => fields[name]), ...calls, thread];
}
