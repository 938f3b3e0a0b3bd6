import { setTimeout as sleep } from 'node:timers/promises';
import { bigText } from '../big-text.mjs';
import { argumentFault } from './arguments.mjs';
import { editedDisplay } from './edit.mjs';
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
    inputSchema: schema(
      { bytes: integer(0, 256 * 1024 * 1024), kind: { type: 'string', enum: ['ascii', 'mixed'] } },
      ['bytes'],
    ),
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
    inputSchema: schema({ kind: { type: 'string', enum: Object.keys(LMKIT_TEXTS) } }, ['kind']),
    run: ({ kind }) => ({ text: LMKIT_TEXTS[kind] }),
  },
  json: {
    description: 'Answers with structured data.',
    inputSchema: schema({}),
    annotations: { readOnly: true, idempotent: true },
    run: () => ({ text: JSON_TEXT }),
  },
};

export const tools = Object.entries(operations).map(([name, { run, ...tool }]) => ({ name, ...tool }));

/** Every outcome is the body of a result; failures say what can be done. */
export async function perform(operation, args) {
  if (!Object.hasOwn(operations, operation)) {
    return {
      text: `Error: unknown operation "${operation}". Use one of ${Object.keys(operations).join(', ')}.`,
    };
  }
  const { inputSchema, run } = operations[operation];
  const fault = argumentFault(inputSchema, args);
  return fault ? { text: `Error: ${fault}. Correct it and call again.` } : run(args);
}

function schema(properties, required = []) {
  return { type: 'object', properties, required, additionalProperties: false };
}

function integer(minimum, maximum) {
  return { type: 'integer', minimum, maximum };
}
