import { setTimeout as sleep } from 'node:timers/promises';
import { bigText } from '../big-text.mjs';
import { argumentFault } from './arguments.mjs';
import { editedDisplay } from './edit.mjs';
import { flows } from './flows.mjs';
import { integer, oneOf, schema } from './schemas.mjs';
import { JSON_TEXT, LMKIT_TEXTS, RATE_LIMIT_TEXT } from './texts.mjs';

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
