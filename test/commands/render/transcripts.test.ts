import { describe, expect, test } from 'vitest';
import type { Event } from '../../../src/events/events.js';
import { transcriptWriter } from '../../../src/events/transcript-writer.js';
import { createRedactor } from '../../../src/util/redact.js';
import { discovery, someCall, stray } from '../../check/samples/parts.js';
import {
  acknowledged,
  arrives,
  at,
  CHOICE,
  call,
  closed,
  answered as dispatchAnswered,
  eventsOf,
  INVOCATION,
  loaded,
  type Moment,
  RESULT,
  resultArrives,
} from '../../events/build.js';
import { answered, awaiting, CLIENT_SESSION, failure, LOOKUP, SESSION } from '../../events/session/build.js';
import { callOf, legTo } from '../../render/session/legs.js';
import { render, reportOf } from './rendering.js';

const RESULT_OF_B = { type: 'tool_result', group_id: 'thread_b', id: 'b', text: 'of b' };
const ABOUT = { startedAt: '2026-11-21T10:00:00.000Z', observer: 'runtime', program: 'test/1' } as const;

function linesOf(events: readonly Event[]): string[] {
  const writer = transcriptWriter(createRedactor());
  return [writer.header(ABOUT), ...events.flatMap(event => writer.event(event)), writer.end('done')];
}
const fileOf = (lines: readonly string[]) => lines.map(line => `${line.trimEnd()}\n`).join('');
const transcript = (...moments: readonly (readonly Moment[])[]) => fileOf(linesOf(eventsOf(...moments)));

describe('a transcript', () => {
  const one = () => linesOf(eventsOf(loaded(), call(), at(4, acknowledged()), at(20, resultArrives())));

  test('shows each message of a call whole, with its answer', async () => {
    const { stdout } = await render(fileOf(one()));
    const messages = stdout.slice(stdout.indexOf('\nMESSAGES\n'));
    expect(messages).toMatch(/→ POST http:\/\/127.0.0.1:3001\/invoke invocation, .*answered 200/);
    expect(messages).toContain('    "arguments": {\n      "path": "src/main.rs"\n    },');
    expect(messages).toMatch(
      /← POST \S+ callback, .*answered 200 after 0ms\n {2}\{\n {4}"type": "tool_result",/,
    );
  });

  test('shows every one of many malformed invocations', async () => {
    const many = Array.from({ length: 30 }, (_, index) => someCall(`${index}`).sent('[')).flat();
    expect((await render(transcript(many))).stdout.match(/^→ POST .* invocation/gm)).toHaveLength(30);
  });

  test('shows only the first and last of many attempts that end in the same way', async () => {
    const attempts = Array.from({ length: 60 }, (_, index) => index + 1).flatMap(attempt => [
      ...at(attempt, call({ attempt })),
      ...at(attempt, dispatchAnswered(attempt === 60 ? 200 : 503, { attempt })),
    ]);
    const { stdout } = await render(transcript(loaded(), attempts, at(70, resultArrives())));
    expect(
      stdout.match(/sent( again \(attempt \d+\))? edit_file|answered 503 instead|acknowledged/g),
    ).toEqual([
      'sent edit_file',
      'answered 503 instead',
      'sent again (attempt 59) edit_file',
      'answered 503 instead',
      'sent again (attempt 60) edit_file',
      'acknowledged',
    ]);
    expect(stdout).toContain('… 57 attempts that ended like those around them are not shown\n');
    expect(stdout.match(/^→ POST/gm)).toHaveLength(3);
  });

  test('without its header, its end, or events reports what is missing', async () => {
    const lines = one();
    expect((await render(fileOf(lines.slice(1, -1)))).stdout).toMatch(
      /^TRANSCRIPT of 1 call, \d events; incomplete \(no end record\)\nrecorded by an unknown program/,
    );
    const ended = fileOf([...lines.slice(0, -1), '{"kind":"end","reason":"interrupted"}']);
    expect((await render(ended)).stdout).toMatch(/^TRANSCRIPT .* ended with: interrupted$/m);
    const before = fileOf([...lines.slice(0, 1), ...lines.slice(-3)]);
    expect((await render(before)).stdout).toMatch(/^LOST\n! line 2: \d events are missing before it$/m);
  });

  test('TOOL-ACK: lost events cause no accusation', async () => {
    const events = eventsOf(call(), acknowledged(), resultArrives());
    const lost = linesOf(events.filter(event => event.kind !== 'response' || event.leg !== 'try-1'));
    const accused = await render(transcript(call(), resultArrives()));
    expect(accused.stdout).toContain('the result arrived without an acknowledgement [TOOL-ACK]');
    const { stdout } = await render(fileOf(lost));
    expect(stdout).toContain('the result arrived without an acknowledgement, which may have been lost');
    expect(stdout).not.toContain('TOOL-ACK');
  });

  test('the ready line that servers print first is accepted, and any other is an error', async () => {
    const ready = '{"port":3001,"url":"http://127.0.0.1:3001"}';
    expect((await render(fileOf([ready, ...one()]))).stderr).toBe('');
    expect((await render(fileOf([...one(), ready]))).stderr).toContain('1 line of standard input could not');
  });

  test.each<[string, readonly Moment[][], last: string]>([
    ['a result', [call(), acknowledged()], '✗ no result in this recording'],
    ['a result after a refusal', [call(), dispatchAnswered(503)], '✗ no result in this recording'],
    ['an acknowledgement', [call()], '✗ no acknowledgement in this recording'],
    ['an answer', [call(), acknowledged(), arrives(CHOICE)], '✗ no answer to the question in this recording'],
    [
      'a toolset',
      [discovery().slice(0, 1)],
      '✗ no answer from http://127.0.0.1:3001/.well-known/rap-toolset in this recording',
    ],
  ])('does not look live: without %s it says so, last', async (_, moments, last) => {
    const { stdout } = await render(transcript(...moments, at(900, closed())), '--width', '200');
    expect(stdout).not.toContain('…');
    expect(stdout.split('\n').findLast(line => line.includes(' in this recording'))).toMatch(/^ {3}900ms /);
    expect(stdout).toContain(last);
  });

  test('a post to a wrong address is shown with the call that it names', async () => {
    const calls = [someCall('a'), someCall('b')] as const;
    const { stdout } = await render(
      transcript(calls[0].begun(), calls[1].begun(), calls[0].result(), stray(RESULT_OF_B)),
    );
    const [one = '', other = ''] = stdout.split(/^CALL 2 of 2/m);
    expect(one).not.toContain('wrong');
    expect(other).toMatch(/✗ a POST to a wrong callback URL, answered 404\n.*✗ no result in this recording/);
    expect(other).toContain('"text": "of b"');
    expect(other).toMatch(/^! 1 post to a wrong callback URL: .* \[TOOL-OPAQUE\]$/m);
    expect(other).toMatch(/^2 calls: 1 success, 1 without a result$/m);
  });

  describe('--as names the calls without a result', () => {
    const [a, b] = [someCall('a'), someCall('b')] as const;
    const file = transcript(a.begun(), b.begun(), b.result());

    test('which are not written', async () => {
      const { stdout, stderr } = await render(file, '--as', 'rap');
      expect(JSON.parse(stdout)).toMatchObject({ type: 'tool_result', id: 'b' });
      expect(stderr).toBe('warning: call 1 has no result; --as rap leaves it out\n');
    });

    test('if only they were selected', async () => {
      const { stdout, stderr } = await render(file, '--call', '1', '--as', 'rap');
      expect(stdout).toBe('');
      expect(stderr).toBe(
        'error: call 1 has no result in standard input, so --as rap has nothing to write\n',
      );
      const none = await render(transcript(a.begun(), b.begun()), '--as', 'rap');
      expect(none.stderr).toContain('error: calls 1, 2 have no result in standard input');
    });
  });

  test('a call that came to the recorder and was not yet forwarded is named', async () => {
    const onSide = (hop: string, moments: readonly Moment[]) =>
      moments.map(moment => ({ ...moment, leg: `${hop} ${moment.calls}`, hop }) as Moment);
    const [a, b] = [someCall('a'), someCall('b')] as const;
    const moments = [onSide('runtime-side', a.sent()), onSide('tool-side', a.begun())];
    const { stdout } = await render(transcript(...moments, onSide('runtime-side', b.sent())));
    expect(stdout).toMatch(/^TRANSCRIPT of 1 call,/);
    expect(stdout).toMatch(
      /^LOST\n! call b came to the recorder; the recording ends before it was forwarded$/m,
    );
    expect((await render(transcript(...moments))).stdout).not.toContain('LOST');
  });

  describe('--call and --failed', () => {
    const other = (moments: readonly Moment[]) =>
      moments.map(
        moment =>
          ({ ...moment, ...('leg' in moment && { leg: `2-${moment.leg}` }), calls: ['second'] }) as Moment,
      );
    const two = transcript(
      call(),
      other(call({ invocation: { ...INVOCATION, id: 'second' } })),
      acknowledged(),
      other(acknowledged()),
      resultArrives(),
      other(resultArrives({ id: 'second', text: 'Error: no' })),
    );

    test.each([
      [['--call', '1'], { invocation: { id: INVOCATION.id } }],
      [['--call', '2'], { invocation: { id: 'second' } }],
      [['--call', 'second'], { invocation: { id: 'second' } }],
      [['--failed'], { invocation: { id: 'second' } }],
    ])('%j', async (words, report) => {
      expect(await reportOf(two, ...words)).toMatchObject(report);
    });

    test.each([[['--call', '2']], [['--failed']]])('%j keeps the number of the call', async words => {
      const { stdout } = await render(two, ...words);
      expect(stdout).toMatch(/^TRANSCRIPT of 1 of 2 calls, /);
      expect(stdout).toMatch(/^CALL 2 of 2 {2}edit_file of call second /m);
    });

    test('--failed keeps the numbers of several calls, which --call takes', async () => {
      const calls = ['a', 'b', 'c', 'd'].map(id => someCall(id));
      const begun = calls.flatMap(each => each.begun());
      const four = transcript(begun, calls[0]?.result() ?? [], calls[2]?.result() ?? []);
      const { stdout } = await render(four, '--failed');
      expect(stdout.match(/^CALL .* of call .(?= )/gm)).toEqual([
        'CALL 2 of 4  edit_file of call b',
        'CALL 4 of 4  edit_file of call d',
      ]);
      expect(stdout).toMatch(/^TRANSCRIPT of 2 of 4 calls, /);
      expect((await render(four, '--call', '4')).stdout).toContain('CALL 4 of 4  edit_file of call d');
    });

    test('no such call', async () => {
      expect(await reportOf(two, '--call', '3')).toContain('no call "3" in');
    });

    test('exits 0 without a call', async () => {
      const { status, stderr } = await render(transcript(), '--failed');
      expect([status, stderr]).toEqual([0, expect.stringContaining('no call of the transcript failed\n')]);
      expect((await render(transcript(), '--call', '1')).stderr).toContain('hint: It has no calls.');
    });

    test('exits 0 without a failed call', async () => {
      const { status, stdout, stderr } = await render(two, '--call', '1', '--failed');
      expect({ status, stdout, stderr }).toEqual({
        status: 0,
        stdout: '',
        stderr: 'no selected call failed\n',
      });
    });
  });

  test('reports a malformed invocation with its line and its answer', async () => {
    const malformed = transcript(
      loaded(),
      call(),
      someCall('a').sent('{"operation":'),
      someCall('b').sent({ ...INVOCATION, operation: 5, id: 'b' }),
      resultArrives(),
    );
    const { stdout } = await render(malformed, '--width', '500');
    expect(stdout).toMatch(
      /^MALFORMED INVOCATIONS\n! line \d+: not valid JSON.*; not answered\n! line \d+: \$\.operation: .*; not answered$/m,
    );
    const warning = expect.stringMatching(/^malformed invocation, line \d+: not valid JSON/);
    expect(await reportOf(malformed)).toMatchObject({
      warnings: expect.arrayContaining([{ message: warning }]),
    });
    const many = transcript(Array.from({ length: 30 }, (_, index) => someCall(`${index}`).sent('[')).flat());
    expect((await render(many)).stdout).toMatch(/(?:^! line .*\n(?: .*\n)*){20}! and 10 more$/m);
  });

  test('of a session that a RAP tool answered has the outcomes of its report, in any format', async () => {
    const [first, second, third] = [callOf('call_1'), callOf('call_2'), callOf('call_3')];
    const [sent = [], taken = []] = legTo('call_1');
    const reason = 'not in this environment';
    const lines = transcript(
      awaiting([first, second, third]),
      sent,
      taken,
      ...legTo('call_2', { ...RESULT, id: 'call_2', text: 'Error: no such order' }),
      answered(second, failure(second, 'no such order')),
      [{ kind: 'denied', by: 'policy', tool: 'lookup_order', reason, calls: ['call_3'], thread: SESSION }],
      answered(third, failure(third, reason)),
      [{ kind: 'expired', what: 'timeout', afterMs: 2_000, calls: ['call_1'], thread: 'thread_rap' }],
      answered(first, failure(first, 'no result within 2s')),
    );
    const written = await render(lines, '--as', 'lmkit');
    expect(await render(await reportOf(lines), '--as', 'lmkit')).toMatchObject({ stdout: written.stdout });
    expect(
      written.stdout
        .trim()
        .split('\n')
        .map(line => JSON.parse(line)),
    ).toMatchObject([
      { Type: 'Timeout', ToolCallId: 'call_1' },
      { Type: 'Error', ToolCallId: 'call_2' },
      { Type: 'Denied', ToolCallId: 'call_3' },
    ]);
  });

  test('of sessions is reported as session answer -o json would have', async () => {
    const url = 'http://127.0.0.1:4000/api/v2/sessions/session_1';
    expect(await reportOf(transcript(...CLIENT_SESSION))).toMatchObject({
      session: { id: 'session_1', url, status: 'completed' },
      calls: [
        { key: 'call_1', outcome: { type: 'success' } },
        { key: '#1', outcome: { type: 'error' } },
      ],
    });
    const several = transcript(...CLIENT_SESSION, awaiting([LOOKUP], { id: 'session_2' }));
    expect(await reportOf(several)).toMatchObject({
      sessions: [{ session: { id: 'session_1' } }, { session: { id: 'session_2' } }],
    });
  });
});
