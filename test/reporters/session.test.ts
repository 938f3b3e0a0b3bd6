import { describe, expect, test } from 'vitest';
import { Content } from '../../src/events/content.js';
import type { Event } from '../../src/events/events.js';
import { History } from '../../src/events/history.js';
import { Sessions } from '../../src/events/session-calls.js';
import { readTranscript } from '../../src/events/transcript-reader.js';
import { jsonReporter, type Page } from '../../src/render/outputs/reporter.js';
import {
  type KnownSession,
  plainSession,
  type SessionReporter,
  sessionReport,
} from '../../src/render/outputs/session.js';
import { ndjsonReporter } from '../../src/render/outputs/text.js';
import type { Trouble } from '../../src/render/outputs/trouble.js';
import { eventsOf, fold, type Moment, OAUTH } from '../events/build.js';
import {
  answered,
  answers,
  asks,
  awaiting,
  BASE,
  breaks,
  CLIENT_SESSION,
  failure,
  foldSessions,
  LOOKUP,
  NAMELESS,
  posts,
  result,
  SESSION,
  status,
} from '../events/session/build.js';
import { callOf, legTo } from '../render/session/legs.js';
import { publishedSchema } from '../support/published-schema.js';
import { pageOf } from './report.js';

const SECRETS = ['canary-key', 'token-canary-4711'];

/** Lets a reporter live through the events of a session, as they happened, to the end of a command. */
async function tell(
  make: (known: KnownSession, page: Page) => SessionReporter,
  events: readonly Event[],
  { trouble = null, ...options }: { quiet?: boolean; isTTY?: boolean; trouble?: Trouble | null } = {},
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const known = { sessions: new Sessions(), history: new History() };
  const { page, printed } = pageOf(known.history, { secrets: SECRETS, ...options });
  const reporter = make(known, page);
  for (const event of events) {
    known.sessions.apply(event);
    known.history.apply(event);
    reporter.event?.(event);
  }
  const notes = [{ message: 'a note' }];
  await reporter.end({ session: { id: SESSION, url: `${BASE}/${SESSION}` }, known, notes, trouble });
  return printed();
}

describe('json', () => {
  const { faultsOf } = publishedSchema('session-report');
  const TROUBLE = { code: 'timeout', message: 'nothing new', hint: 'Wait.', faults: ['$.a'] } as const;

  async function reported(parts: readonly (readonly Moment[])[], trouble: typeof TROUBLE | null = null) {
    const json = (_: KnownSession, page: Page) => jsonReporter(page, sessionReport);
    const { stdout } = await tell(json, eventsOf(...parts), { trouble });
    return JSON.parse(stdout);
  }

  const begun = [status('awaiting_tool_results'), awaiting([LOOKUP, NAMELESS])];

  const STORIES: Readonly<Record<string, readonly (readonly Moment[])[]>> = {
    nothing: [],
    'a platform that knows no such session': [asks('changes'), answers(404, { leg: 'changes-1' })],
    'a whole session': CLIENT_SESSION,
    'calls that wait': begun,
    'a post without an answer': [...begun, answered(LOOKUP, result(LOOKUP, null)), posts([LOOKUP]), breaks()],
    'a refused post': [
      ...begun,
      answered(LOOKUP, { kind: 'odd', tool_req: {} }),
      posts([LOOKUP]),
      answers(422),
    ],
    'a session that failed': [...begun, status('failed', { error: 'no more money' })],
    'a leg to a RAP tool': [
      status('running'),
      awaiting([callOf('call_1')]),
      ...legTo('call_1'),
      answered(callOf('call_1'), result(callOf('call_1'), 'shipped')),
    ],
  };

  test.each(Object.keys(STORIES))('the schema accepts the report of %s', async name => {
    expect(faultsOf(await reported(STORIES[name] ?? []))).toEqual([]);
    expect(faultsOf(await reported(STORIES[name] ?? [], TROUBLE))).toEqual([]);
  });

  describe('the schema rejects', () => {
    test.each<[string, (report: Record<string, unknown>) => unknown]>([
      ['a member that is not in it', report => ({ ...report, more: 1 })],
      ['a report without its warnings', ({ warnings: _, ...report }) => report],
      [
        'an unknown outcome',
        report => ({ ...report, calls: [{ ...Object(report['calls'])[0], outcome: { type: 'x' } }] }),
      ],
    ])('%s', async (_, change) => {
      expect(faultsOf(change(await reported(CLIENT_SESSION)))).not.toEqual([]);
    });
  });

  test('row 25: does not contain keys', async () => {
    const call = { ...LOOKUP, args: { seen: 'canary-key' } };
    const report = await reported([
      awaiting([call]),
      answered(call, result(call, 'canary-key')),
      status('failed', { error: 'canary-key' }),
    ]);
    expect(JSON.stringify(report)).not.toContain('canary-key');
    expect(report.session.error).toBe('[redacted]');
  });
});

describe('ndjson', () => {
  const ABOUT = { startedAt: '2026-11-21T10:00:00.000Z', observer: 'client', program: 'test' } as const;

  async function lines(events: Parameters<typeof tell>[1]): Promise<string[]> {
    const { stdout } = await tell((_, page) => ndjsonReporter(page, ABOUT), events);
    return stdout.trimEnd().split('\n');
  }

  test('is a transcript that reads back as the same events', async () => {
    const events = eventsOf(...CLIENT_SESSION);
    const { events: read, faults, header, end } = readTranscript(await lines(events));
    expect([faults, header?.observer, end]).toEqual([[], 'client', 'done']);
    expect(foldSessions(read).list).toEqual(foldSessions(events).list);
    expect([...fold(read).untracked.values()]).toEqual([]);
  });

  test('every line fits the published schema', async () => {
    const { faultsOf } = publishedSchema('transcript');
    expect((await lines(eventsOf(...CLIENT_SESSION))).flatMap(line => faultsOf(JSON.parse(line)))).toEqual(
      [],
    );
  });

  test('row 25: does not contain keys, even if the platform or a tool repeats them', async () => {
    const key = 'canary-key';
    const call = { ...LOOKUP, args: { deep: [key], [key]: 1 } };
    const written = await lines(
      eventsOf(
        status('running', { error: key, answer: { said: key } }),
        awaiting([call]),
        answered(call, { kind: 'tool_result', tool_req: {}, result: key }),
        [{ kind: 'warned', message: `the key is ${key}` }],
        [
          {
            kind: 'response',
            leg: 'x',
            status: 401,
            headers: { 'x-key': key },
            body: Content.ofJson({ message: key }),
          },
        ],
      ),
    );
    expect(written.join('\n')).not.toContain(key);
    expect(readTranscript(written).faults).toEqual([]);
  });
});

describe('plain', () => {
  const SECRET = 'token-canary-4711';

  const outputOf = (parts: readonly (readonly Moment[])[], isTTY = false, options = {}) =>
    tell((known, page) => plainSession(known, page), eventsOf(...parts), { isTTY, ...options });

  test("-q: prints only the agent's answer", async () => {
    expect(await outputOf(CLIENT_SESSION, false, { quiet: true })).toEqual({
      stdout: 'Your order is shipped\n',
      stderr: '',
    });
  });

  describe('RT-OAUTH: a whole consent URL', () => {
    const parts = [
      status('running'),
      awaiting([callOf('call_1')]),
      ...legTo('call_1', { ...OAUTH, id: 'call_1', auth_url: 'https://auth.example/consent?code=canary' }),
    ];

    test('is shown to the user at the terminal', async () => {
      expect((await outputOf(parts, true)).stdout).toContain('code=canary');
    });

    test('is not written to a log', async () => {
      const { stdout, stderr } = await outputOf(parts);
      expect(stdout).not.toContain('canary');
      expect(stdout).toContain('https://auth.example/consent');
      expect(stderr).toContain('code=canary');
    });
  });

  test('row 24: contains no raw control characters', async () => {
    const evil = '\u001b]0;owned\u0007\u202e\n';
    const call = { key: evil, tool_name: evil, args: { [evil]: evil }, id: evil };
    const { stdout } = await outputOf([
      status(evil),
      awaiting([call]),
      answered(call, failure(call, evil, evil)),
      posts([call]),
      answers(422, { body: { detail: [{ loc: [evil], msg: evil }] } }),
      asks('changes', { leg: 'c', path: `/${evil}` }),
      breaks(evil, { leg: 'c' }),
      status('failed', { error: evil, answer: { [evil]: evil } }),
    ]);
    expect(stdout.split('\n').length).toBeGreaterThan(8);
    expect(stdout).not.toMatch(/[^\P{C}\n]/u);
  });

  test('row 25: contains no secrets, whatever their source', async () => {
    const { stdout } = await outputOf([
      status('running'),
      awaiting([LOOKUP]),
      answered(LOOKUP, result(LOOKUP, `your token is ${SECRET}`)),
      status('completed', { answer: { [SECRET]: SECRET } }),
    ]);
    expect(stdout).not.toContain(SECRET);
    expect(stdout).toContain('your token is [redacted]');
  });
});
