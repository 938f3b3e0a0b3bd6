import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SEED_RESULTS as SEED_MESSAGES } from '../protocol/seed-messages.js';
import { runHere } from './support/in-process.js';
import { type OwnTool, startTool } from './support/own-tool.js';
import { argv } from './support/program.js';
import { invokeJsonHere, warningIds } from './support/report.js';

/** The examples of the protocol's pages "Tool Result" (seed 000) and "Tool Invocation" (seed 004), and what must come of each. */

interface SeedResult {
  readonly message: string;
  readonly status: number;
  readonly display: { readonly chosen: number | null; readonly type: string };
  /** The ids of the warnings it deserves. */
  readonly ids: readonly string[];
}

const SEED_RESULTS = {
  request: {
    message: SEED_MESSAGES.request,
    status: 0,
    display: { chosen: 0, type: 'text' },
    ids: [],
  },
  structured: {
    message: SEED_MESSAGES['structured results'],
    status: 0,
    display: { chosen: null, type: 'text' },
    ids: [],
  },
  text_display: {
    message: SEED_MESSAGES['a simple text-only display'],
    status: 0,
    display: { chosen: 0, type: 'text' },
    ids: [],
  },
  diff_display: {
    message: SEED_MESSAGES['a diff display with text fallback'],
    status: 0,
    display: { chosen: 0, type: 'diff' },
    ids: ['TOOL-DIFF'],
  },
  error: {
    message: SEED_MESSAGES['error handling'],
    status: 5,
    display: { chosen: null, type: 'text' },
    ids: [],
  },
} satisfies Readonly<Record<string, SeedResult>>;

const SEED_INVOCATION = {
  operation: 'subscribe_github_events',
  arguments: { owner: 'acme', repo: 'api', event_type: 'pull_request' },
  id: 'call_abc123',
  call_id: null,
  callback_url: 'https://agent.example.com/callback',
  group_id: 'thread_xyz',
  thread_ancestors: ['thread_root', 'thread_parent'],
  user_id: 'user_42',
};

/** Every example message of the protocol's two pages (seeds 000 and 004), word for word. */
let tool: OwnTool;

/** The ids that the examples bear. */
const IDENTITY = ['--id', 'call_abc123', '--group-id', 'thread_xyz'];

beforeAll(async () => {
  tool = await startTool({
    ...Object.fromEntries(
      Object.entries(SEED_RESULTS).map(([name, { message }]) => [name, { callbacks: () => [message] }]),
    ),
    subscribe_github_events: { callbacks: () => [SEED_RESULTS.text_display.message] },
  });
});
afterAll(() => tool[Symbol.asyncDispose]());

describe.concurrent('seed 000: the examples of a tool result', () => {
  it.each(Object.entries(SEED_RESULTS))('%s', async (name, { message, status, display, ids }) => {
    const { report, status: ended } = await invokeJsonHere(argv`${tool.url} ${name} ${IDENTITY}`);
    const sent = JSON.parse(message);
    expect(ended).toBe(status);
    expect(report.result).toEqual(sent);
    expect(report.llm).toEqual({ text: sent.text });
    expect(report.display).toMatchObject({ skipped: [], ...display });
    expect(warningIds(report)).toEqual(ids);
  });

  it('RT-TEXT: the diff never changes what the LLM gets', async () => {
    const { stdout } = await runHere(argv`invoke ${tool.url} diff_display ${IDENTITY} -o text`);
    expect(stdout).toBe('Replaced text in src/main.rs');
  });

  it('a client without diffs gets the fallback line', async () => {
    const { report } = await invokeJsonHere(argv`${tool.url} diff_display ${IDENTITY} --supports text`);
    expect(report.display).toMatchObject({ chosen: 1, type: 'text', skipped: [{ index: 0, type: 'diff' }] });
  });
});

describe.concurrent('seed 004: the example of an invocation', () => {
  it('RT-FIELDS: is sent field by field', async () => {
    const { operation, arguments: args, id, group_id, user_id, thread_ancestors } = SEED_INVOCATION;
    const { status } = await runHere(argv`
      invoke ${tool.url} ${operation} ${Object.entries(args).map(([key, value]) => `${key}=${value}`)}
      --id ${id} --group-id ${group_id} --user-id ${user_id}
      ${thread_ancestors.flatMap(ancestor => ['--ancestor', ancestor])}
    `);
    expect(status).toBe(0);
    const [sent] = tool.invocations().filter(({ raw }) => JSON.parse(raw).operation === operation);
    expect(JSON.parse(sent?.raw ?? '')).toEqual({
      ...SEED_INVOCATION,
      callback_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback\/[\w-]{43}$/),
    });
    expect(sent).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } });
  });
});
