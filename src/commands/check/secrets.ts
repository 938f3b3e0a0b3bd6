import type { Event } from '../../events/events.js';
import { consentSecrets, type EventRedactor, wireSecrets } from '../../events/shareable.js';
import { credentialsIn, namedCredentialsIn } from '../../util/credentials.js';
import { createRedactor, REDACTED, type Redactor } from '../../util/redact.js';
import { decodeUtf8 } from '../../util/text.js';
import { stringsIn } from '../../util/values.js';

/**
 * Finds the secrets of a check in its events (threats, row 25): those of any recording, and everything a tool sends that looks like a
 * credential (TOOL-SECRET, TOOL-OAUTH), unless the call itself sent it.
 */
export function checkedSecrets(credentials: Redactor): EventRedactor {
  const secrets = wireSecrets(credentials);
  const sent = new Map<string | undefined, readonly string[]>();
  return {
    ...secrets,
    learn(event) {
      secrets.learn(event);
      for (const secret of consentSecrets(event)) secrets.add(secret);
      const key = event.calls?.[0];
      const found = textsIn(event).flatMap(credentialsOf);
      if (event.kind === 'request' && event.purpose === 'invocation') sent.set(key, found);
      else for (const secret of found) if (!sent.get(key)?.includes(secret)) secrets.add(secret);
    },
  };
}

function credentialsOf(text: string): readonly string[] {
  const known = credentialsIn(text).map(found => found.text.replace(/^Bearer /, ''));
  return [...known, ...namedCredentialsIn(text)];
}

function textsIn(event: Event): readonly string[] {
  const body = 'body' in event ? event.body : undefined;
  if (!body) return [];
  return body.json.ok ? stringsIn(body.json.value) : [decodeUtf8(body.bytes) ?? ''];
}

/** Values that may be secret: of a variable, and of an option with such a name. */
const SECRET_VALUES =
  /(?<=^|\s)(\w+=|--?[\w-]*(?:auth|key|pass|secret|token)[\w-]*[= ])("[^"]*"|'[^']*'|\S+)/gi;

/** Returns a command as it was given, without secrets. */
export function commandName(command: string, option = '--command'): string {
  const text = command.trim().replaceAll(SECRET_VALUES, `$1${REDACTED}`);
  return `${option} ${createRedactor(credentialsOf(text)).text(text)}`;
}
