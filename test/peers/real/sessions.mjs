import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { python } from './kits.mjs';
import { runProgram } from './verdict.mjs';

/** The vendor's SDK of agent sessions, in front of `session mock`: what it returns, and what the verification says. */

const lookup = (id, order_id = 'A1') => ({ tool_name: 'lookup_order', args: { order_id }, id });
const shipped = (order_id = 'A1') => `${order_id} shipped`;
const TOOLS = [
  {
    name: 'lookup_order',
    description: 'Find an order',
    input_schema: { type: 'object', properties: { order_id: { type: 'string' } } },
  },
];
const ok = { status: 'completed', error: null, error_code: null, untyped: [] };
const OPTIONAL = { outcome: null };

/** Each with a script, what the SDK returns, and, unless it is right, what the verification finds. */
const CASES = {
  run: {
    session: {
      rounds: [{ calls: [lookup('call_1'), lookup(null, 'A2'), lookup('call_3', 'none')] }],
      answer: { first: '{{results.call_1}}' },
      outcome: 'partial',
    },
    returns: { ...ok, answer: { first: shipped() }, outcome: 'partial', calls: ['A1', 'A2', 'none'] },
  },
  many: {
    session: { rounds: [{ calls: Array.from({ length: 20 }, (_, n) => lookup(`call_${n}`, `A${n}`)) }] },
    returns: { ...ok, answer: null, calls: Array.from({ length: 20 }, (_, n) => `A${n}`) },
  },
  reused: {
    session: {
      rounds: [
        { calls: [lookup('xml_0', 'A1')] },
        { calls: [lookup('xml_0', 'A2')] },
        { calls: [lookup(null)] },
      ],
      answer: '{{results.xml_0}}',
    },
    returns: { ...ok, answer: shipped('A2'), calls: ['A1', 'A2', 'A1'] },
  },
  large: {
    session: { rounds: [{ calls: [lookup('call_1', 'large')] }], answer: 'done' },
    returns: { ...ok, answer: 'done', calls: ['large'] },
  },
  faults: {
    session: { rounds: [{ calls: [lookup('call_1')] }], answer: 'done' },
    faults: { create: [429], changes: [503], status: [500], tool_results: [503, 429] },
    returns: { ...ok, answer: 'done', calls: ['A1'] },
  },
  lost: {
    session: { rounds: [{ calls: [lookup('call_1')] }], answer: 'done' },
    faults: { tool_results: ['lost'] },
    returns: { raised: 'ReadError' },
  },
  evicted: {
    session: { rounds: [{ calls: [lookup('call_1')] }], answer: 'done' },
    switches: { kept_events: 1 },
    returns: { ...ok, answer: 'done', calls: ['A1'] },
  },
  failed: {
    session: { rounds: [{ calls: [lookup('call_1')] }], end: 'failed', error_code: 'no_answer' },
    returns: {
      ...ok,
      status: 'failed',
      answer: null,
      calls: ['A1'],
      error: 'The agent failed, as its script says.',
      error_code: 'no_answer',
    },
  },
  'two-loops': {
    session: { rounds: [{ calls: [lookup('call_1')] }, { calls: [lookup('call_2', 'A2')] }], answer: 'done' },
    returns: { ...ok, answer: 'done', calls: ['A1', 'A2'] },
  },
  schema: {
    session: { rounds: [], answer: { parcel: 'P7' }, outcome: 'success' },
    returns: { answer: 'P7', outcome: 'success' },
  },
  stream: {
    session: { rounds: [{ calls: [lookup('call_1')] }], answer: 'done' },
    returns: {
      typed: true,
      types: [
        ...['AgentStartedEvent', 'ActiveStateChangeEvent', 'ActiveStateChangeEvent', 'AgentEvent'],
        ...['ActiveStateChangeEvent', 'AgentEvent', 'AgentCompletionEvent'],
      ],
    },
  },
  idle: {
    session: {
      rounds: [{ calls: [lookup('xml_0')] }],
      answer: 'A1',
      end: 'idle',
      on_message: [{ rounds: [{ calls: [lookup('xml_0', 'B1')] }], answer: '{{results.xml_0}}' }],
    },
    returns: {
      first: { ...ok, ...OPTIONAL, status: 'idle', answer: 'A1', calls: ['A1'] },
      second: { ...ok, ...OPTIONAL, answer: shipped('B1'), calls: ['A1', 'B1'] },
    },
  },
  steer: {
    session: { rounds: [{ calls: [lookup('call_1')] }], answer: 'early' },
    returns: {
      ...{ paused: 'paused', pending: 1, end: 'completed', agent: 'an-agent', listed: ['an-agent'] },
      ...{ events: 8, available: 999, share: '/share/ID' },
    },
    problems: ['unanswered'],
  },
  webhooks: {
    session: { rounds: [{ calls: [lookup('call_1')] }], answer: 'done' },
    returns: {
      ...{ status: 'completed', ping: [204, 'ping'], webhook: ['ours', 'succeeded', false] },
      ...{ offered: 6, listed: 0 },
      events: [
        'session.status_updated pending running',
        'session.status_updated running awaiting_tool_results',
        'session.awaiting_tool_results running awaiting_tool_results',
        'session.status_updated awaiting_tool_results running',
        'session.status_updated running completed',
        'session.completed running completed',
      ],
    },
  },
};

export const SESSION_CLIENTS = ['sync', 'async'].map(way => ({
  name: `hai-agents, ${way}`,
  kit: 'python',
  run: () => trySdk(way),
}));

async function trySdk(way) {
  const folder = await mkdtemp(join(tmpdir(), 'protocol-cli-peers-'));
  try {
    for (const [name, { session, faults, switches, returns, problems = [] }] of Object.entries(CASES)) {
      const file = join(folder, `${name}.json`);
      const script = { version: 1, session: { tools: TOOLS, ...session }, faults, switches };
      await writeFile(file, JSON.stringify(script));
      const client = `${python('sessions/hai_client.py')} ${name} ${way}`;
      const report = join(folder, `${name}-report.json`);
      const words = ['session', 'mock', file, '-q', '--reporter', `json:${report}`, '--', 'sh', '-c', client];
      const { stdout, stderr } = await runProgram(words);
      const [line = ''] = stdout.trim().split('\n').slice(-1);
      const got = JSON.parse(line === '' ? '{}' : line, (_key, value) =>
        typeof value === 'string' ? value.replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/, 'ID') : value,
      );
      const expected = 'calls' in returns ? { ...OPTIONAL, ...returns } : returns;
      assert.deepEqual(got, expected, `${name}\n${stdout}${stderr}`);
      const { problems: found } = JSON.parse(await readFile(report, 'utf8'));
      const kinds = found.examples.map(({ kind }) => kind);
      assert.deepEqual(kinds, problems, `${name}: the verification\n${stderr}`);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
