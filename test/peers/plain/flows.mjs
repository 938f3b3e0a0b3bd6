import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { severalConnections } from './connections.mjs';
import { openConsent } from './consent.mjs';
import { Pipeline } from './pipeline.mjs';
import { integer, oneOf, schema } from './schemas.mjs';
import { LMKIT_CANCELED, REFUSED_TEXT } from './texts.mjs';

/** Each event after the 200 of the one before, or at once after it. */
const WAYS = { in_turn: severalConnections, pipelined: () => new Pipeline() };

/** Operations that say more than one thing. What `after` says comes once the result is delivered. */
export const flows = {
  sign_in: {
    description: 'Needs consent, on a page of its own.',
    inputSchema: schema({}),
    annotations: { requiresAuth: 'oauth' },
    async run(_, call) {
      const { url, decision } = openConsent(call.origin);
      await call.wait('oauth', { auth_url: url });
      const answer = await Promise.race([decision, cancelled(call)]);
      return { text: { granted: 'signed in', refused: REFUSED_TEXT }[answer] ?? LMKIT_CANCELED };
    },
  },
  watch: {
    description: 'So many events, the last one final; every second one associative, or all, or none.',
    inputSchema: schema({
      events: integer(1, 10_000),
      every_ms: integer(0, 60_000),
      associative: oneOf('none', 'every_second', 'all'),
      way: oneOf(...Object.keys(WAYS)),
    }),
    annotations: { longRunning: true },
    run: () => ({ text: 'Watching', subscription: true }),
    after: sendEvents,
  },
  paint: {
    description: 'Three diffs of one view, each in place of the one before; then maybe none.',
    inputSchema: schema({ afterwards: oneOf('keep', 'clear') }),
    async run({ afterwards = 'keep' }, call) {
      for (const word of ['one', 'two', 'three'])
        await call.send('view_update', { view_type: 'diff', content: { patch: patchTo(word) } });
      if (afterwards === 'clear') await call.send('view_update', { view_type: 'diff', content: {} });
      return { text: 'Painted' };
    },
  },
};

async function sendEvents({ events = 3, every_ms = 20, associative = 'none', way = 'in_turn' }, call) {
  const connections = WAYS[way]();
  const sent = [];
  for (let number = 1; number <= events; number++) {
    if (every_ms > 0) await sleep(every_ms, undefined, { signal: call.signal }).catch(() => {});
    if (call.signal.aborted) break;
    const delivery = call.event(eventOf(number, { events, associative }), connections.post);
    if (way === 'in_turn') await delivery;
    else sent.push(delivery);
  }
  await Promise.all(sent);
  connections.close();
}

function eventOf(number, { events, associative }) {
  const isAssociative = associative === 'all' || (associative === 'every_second' && number % 2 === 0);
  return {
    text: `Event ${number} of ${events}`,
    ...(isAssociative && { associative: true }),
    ...(number === events && { final: true }),
  };
}

async function cancelled({ signal }) {
  if (!signal.aborted) await once(signal, 'abort');
}

function patchTo(word) {
  return `--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-zero\n+${word}\n`;
}
