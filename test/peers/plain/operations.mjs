import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { bigText } from '../big-text.mjs';
import { Pipeline, severalConnections } from './connections.mjs';
import { openConsent } from './consent.mjs';

export function schema(properties, required = []) {
  return { type: 'object', properties, required, additionalProperties: false };
}

export function integer(minimum, maximum) {
  return { type: 'integer', minimum, maximum };
}

function oneOf(...values) {
  return { type: 'string', enum: values };
}

const RATE_LIMIT_TEXT = 'Error: API rate limit exceeded. Retry after 60 seconds.';

const REFUSED_TEXT = 'Error: access was refused. Ask for it and call again.';

/** Of a call that no one wants any more. */
const LMKIT_CANCELED = '{"canceled":{"reason":"the runtime cancelled the call","by":"user"}}';

const LMKIT_TEXTS = {
  denied: '{"denied": {"tool": "...", "reason": "..."}}',
  canceled: '{"canceled": {"reason": "...", "by": "user|policy|system"}}',
  timeout: '{"timeout": {"durationMs": 30000}}',
  error: '{"error": {"message": "...", "code": "OPTIONAL_CODE", "type": "OptionalType"}}',
};

/** Written by hand: no JSON library would print the doubled key or the number beyond 2^53. */
const JSON_TEXT =
  '{"instances":[{"id":"i-0abc123","state":"running","tags":{"team":"é","empty":{}}}],' +
  '"serial":9007199254740993,"count":1,"count":2}';

/** What a human sees of an edit: a diff with a correct hunk header, or one line where diffs are not drawn. */
function editedDisplay(path, count) {
  return [
    { type: 'diff', content: { path, patch: patchOf(path, count) } },
    { type: 'text', content: `edit_file ${path} — ${count} ${count === 1 ? 'replacement' : 'replacements'}` },
  ];
}

function patchOf(path, count) {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const lines = [
    `--- ${path}`,
    `+++ ${path}`,
    `@@ -1,${count + 2} +1,${count + 2} @@`,
    ' first line',
    ...numbers.map(number => `-old line ${number}`),
    ...numbers.map(number => `+new line ${number}`),
    ' last line',
  ];
  return `${lines.join('\n')}\n`;
}

const TYPES = {
  string: value => typeof value === 'string',
  integer: value => Number.isInteger(value),
};

/** What is wrong with the arguments, or null: the part of JSON Schema that this tool's own schemas use. */
function argumentFault({ properties = {}, required = [] }, args) {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return 'arguments must be an object';
  const missing = required.find(name => !Object.hasOwn(args, name));
  if (missing) return `argument "${missing}" is required`;
  for (const [name, value] of Object.entries(args)) {
    const fault = Object.hasOwn(properties, name) ? valueFault(properties[name], value) : 'is not known';
    if (fault) return `argument "${name}" ${fault}`;
  }
  return null;
}

function valueFault(schema, value) {
  if (!TYPES[schema.type](value)) return `must be of type ${schema.type}`;
  if (schema.enum && !schema.enum.includes(value)) return `must be one of ${schema.enum.join(', ')}`;
  if (value < schema.minimum) return `must be at least ${schema.minimum}`;
  if (value > schema.maximum) return `must be at most ${schema.maximum}`;
  return null;
}

/** Each event after the 200 of the one before, or at once after it. */
const WAYS = { in_turn: severalConnections, pipelined: () => new Pipeline() };

/** Operations that say more than one thing. What `after` says comes once the result is delivered. */
const flows = {
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

const operations = {
  edit_file: {
    description: 'Replaces text in a file.',
    inputSchema: schema({ path: { type: 'string' }, replace: integer(1, 1000) }, ['path']),
    annotations: { readOnly: false },
    run: ({ path, replace = 1 }) => ({
      text: `Replaced text in ${path}`,
      display_as: editedDisplay(path, replace),
    }),
  },
  echo: {
    description: 'Gives the text back.',
    inputSchema: schema({ text: { type: 'string' } }, ['text']),
    annotations: { readOnly: true },
    run: ({ text }) => ({ text }),
  },
  big: {
    description: 'Gives a text of so many UTF-8 bytes.',
    inputSchema: schema({ bytes: integer(0, 256 * 1024 * 1024), kind: oneOf('ascii', 'mixed') }, ['bytes']),
    run: ({ bytes, kind }) => ({ text: bigText(bytes, kind) }),
  },
  slow: {
    description: 'Takes its time.',
    inputSchema: schema({ ms: integer(0, 600_000) }, ['ms']),
    annotations: { longRunning: true },
    run: async ({ ms }) => {
      await sleep(ms);
      return { text: `Finished after ${ms} ms` };
    },
  },
  fail: {
    description: 'Fails as if a rate limit were hit.',
    inputSchema: schema({}),
    run: () => ({ text: RATE_LIMIT_TEXT }),
  },
  lmkit: {
    description: 'Answers with the JSON that LM-Kit uses for an unsuccessful call.',
    inputSchema: schema({ kind: oneOf(...Object.keys(LMKIT_TEXTS)) }, ['kind']),
    run: ({ kind }) => ({ text: LMKIT_TEXTS[kind] }),
  },
  json: {
    description: 'Answers with structured data.',
    inputSchema: schema({}),
    annotations: { readOnly: true, idempotent: true },
    run: () => ({ text: JSON_TEXT }),
  },
  ...flows,
};

export const tools = Object.entries(operations).map(([name, { run, after, ...tool }]) => ({ name, ...tool }));

/** Every outcome is a result; failures say what can be done. */
export async function perform(operation, args, call) {
  if (!Object.hasOwn(operations, operation)) {
    const names = Object.keys(operations).join(', ');
    return call.result({ text: `Error: unknown operation "${operation}". Use one of ${names}.` });
  }
  const { inputSchema, run, after } = operations[operation];
  const fault = argumentFault(inputSchema, args);
  if (fault) return call.result({ text: `Error: ${fault}. Correct it and call again.` });
  await call.result(await run(args, call));
  await after?.(args, call);
}
