import type { Event } from '../../events/events.js';
import { consentSecrets } from '../../events/shareable.js';
import type { Finding } from '../../protocol/driver.js';
import { REDACTED } from '../../util/redact.js';
import { truncateBeforeToken } from '../../util/text.js';
import { valueAt } from '../../util/values.js';

/** Maximum number of leaks reported per place, and maximum length of their texts in characters. */
const MAX_LEAKS = 3;
const MAX_LEAK = 300;

/** Finds the secrets of consent that reached the model or the runtime's own log. */
export function leaksIn(events: readonly Event[], log = ''): readonly Finding[] {
  const secrets = [...new Set(events.flatMap(consentSecrets))];
  if (secrets.length === 0) return [];
  const places = [
    ['model', textsFor('model', events)],
    ['failure', textsFor('failure', events)],
    ['log', log.split('\n')],
  ] as const;
  return places.flatMap(([where, texts]) =>
    texts
      .filter(text => secrets.some(secret => text.includes(secret)))
      .slice(0, MAX_LEAKS)
      .map(text => {
        const safe = secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
        return { saw: 'leak', where, text: truncateBeforeToken(safe, MAX_LEAK) } as const;
      }),
  );
}

function textsFor(who: 'model' | 'failure', events: readonly Event[]): readonly string[] {
  return events.flatMap(event => {
    if (event.kind !== 'driver' || !event.body?.json.ok || valueAt(event.body.json.value, 'saw') !== who)
      return [];
    return String(valueAt(event.body.json.value, 'text'));
  });
}
