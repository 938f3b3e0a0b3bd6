import type { EventRedactor } from '../../exchange/callback-secrets.js';
import type { Event } from '../../exchange/events.js';
import { credentialsIn, namedCredentialsIn } from '../../text/credentials.js';
import { decodeUtf8 } from '../../text/json.js';
import type { Redactor } from '../../text/redact.js';
import { stringsIn } from '../../text/strings-in.js';
import { wireSecrets } from '../wire-secrets.js';

/**
 * What is secret in a check, learned from its events (threats, row 25): besides what is on any wire, whatever a tool tells that looks
 * like a credential (TOOL-SECRET, TOOL-OAUTH). What a call has said itself is no news to whoever made it.
 */
export function checkedSecrets(credentials: Redactor): EventRedactor {
  const secrets = wireSecrets(credentials);
  const said = new Map<string | undefined, readonly string[]>();
  return {
    ...secrets,
    learn(event) {
      secrets.learn(event);
      const key = event.calls?.[0];
      const found = textsIn(event).flatMap(credentialsTold);
      if (event.kind === 'request' && event.purpose === 'invocation') said.set(key, found);
      else for (const secret of found) if (!said.get(key)?.includes(secret)) secrets.add(secret);
    },
  };
}

/** A scheme is none: `Bearer`. */
function credentialsTold(text: string): readonly string[] {
  const known = credentialsIn(text).map(found => found.text.replace(/^Bearer /, ''));
  return [...known, ...namedCredentialsIn(text)];
}

function textsIn(event: Event): readonly string[] {
  const body = 'body' in event ? event.body : undefined;
  if (!body) return [];
  return body.json.ok ? stringsIn(body.json.value) : [decodeUtf8(body.bytes) ?? ''];
}
