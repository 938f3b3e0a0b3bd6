import { describe, expect, test } from 'vitest';
import { conformanceOf } from '../../../src/check/conformance.js';
import { checkTranscript } from '../../../src/check/judge.js';
import { MAX_QUOTE_LENGTH } from '../../../src/check/rule-details.js';
import { checkedSecrets } from '../../../src/commands/check/secrets.js';
import type { Event } from '../../../src/events/events.js';
import { History } from '../../../src/events/history.js';
import { transcriptWriter } from '../../../src/events/transcript-writer.js';
import type { RequirementId } from '../../../src/protocol/requirements.js';
import { shareableRun } from '../../../src/render/check-evidence.js';
import { CHECK_FORMATS } from '../../../src/render/outputs/check.js';
import { judgedLines } from '../../../src/render/problems-tab.js';
import { createRedactor } from '../../../src/util/redact.js';
import { discovery, someCall, TOOLSET } from '../../check/samples/parts.js';
import { eventsOf, INVOCATION, type Moment } from '../../events/build.js';
import { LOOK, MIXED } from '../../reporters/check-reports.js';
import { plainText } from '../../support/words.js';

/** Rules truncate foreign texts long before secrets are redacted. */

const SECRET = 'ghp_0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f';

const PIECE = SECRET.slice(0, 10);

/** A text that, cut to this many characters, contains half of the secret. */
const cutAt = (most: number) => `${'x'.repeat(most - 21)} ${SECRET}`;

const call = someCall('a');

const begun = [...discovery(), ...call.begun()];

const called = (fields: object) => {
  const other = someCall('b', fields);
  return [...other.begun(), ...other.result()];
};

const diff = (patch: string) => [{ type: 'diff', content: { path: 'a', patch } }];

const STORIES: readonly (readonly [RequirementId, string, readonly Moment[]])[] = [
  ['TOOL-ID', 'an id', [...begun, ...call.result({ id: cutAt(MAX_QUOTE_LENGTH) })]],
  ['TOOL-GROUP', 'a thread', [...begun, ...call.result({ group_id: cutAt(MAX_QUOTE_LENGTH) })]],
  ['TOOL-CALLID', 'a second name', [...begun, ...call.result({ call_id: cutAt(MAX_QUOTE_LENGTH) })]],
  [
    'TOOL-SUB',
    'the call of an event',
    [
      ...begun,
      ...call.result({ subscription: true }),
      ...call.news({ tool_call_id: cutAt(MAX_QUOTE_LENGTH) }),
    ],
  ],
  [
    'TOOL-ERRPREFIX',
    'an error',
    [...begun, ...call.result({ text: `error: ${cutAt(MAX_QUOTE_LENGTH - 7)}` })],
  ],
  ['TOOL-POST', 'a type that no one knows', [...begun, ...call.posts({ type: cutAt(199) })]],
  ['TOOL-POST', 'a content type', [...begun, ...call.result({}, { type: cutAt(300) })]],
  ['TOOL-POST', 'a refusal', [...begun, ...call.posts(null, { status: 400, refusal: cutAt(300) })]],
  ['TOOL-POST', 'what is not JSON', [...begun, ...call.posts(`{"text": ${'x'.repeat(20)}${SECRET}`)]],
  ['TOOL-DIFF', 'a patch', [...begun, ...call.result({ display_as: diff(cutAt(300)) })]],
  [
    'TOOL-FALLBACK',
    'a segment that no one knows',
    [...begun, ...call.result({ display_as: [{ type: cutAt(300), content: {} }] })],
  ],
  ['TOOL-DISCOVER', 'a content type', discovery(TOOLSET, { headers: { 'content-type': cutAt(500) } })],
  ['RT-OP', 'an operation', [...discovery(), ...called({ operation: cutAt(300) })]],
  [
    'RT-ID',
    'an id that is used again',
    [
      ...called({ id: cutAt(300) }),
      ...called({ id: cutAt(300), arguments: { ...INVOCATION.arguments, b: 1 } }),
    ],
  ],
];

/** Every report of a check. */
async function reported(
  events: readonly Event[],
  redactor: ReturnType<typeof checkedSecrets>,
): Promise<string> {
  const { checks } = await checkTranscript(events);
  const run = conformanceOf(checks);
  const input = { ...MIXED, record: { events, redactor }, run: shareableRun(run, redactor) };
  const writer = transcriptWriter(redactor);
  return [
    ...Object.values(CHECK_FORMATS).map(format => format(input, LOOK)),
    ...events.flatMap(event => writer.event(event)),
  ].join('\n');
}

/** The text of the Problems tab. */
async function judged(
  events: readonly Event[],
  redactor: ReturnType<typeof checkedSecrets>,
): Promise<string> {
  const history = new History();
  for (const event of events) history.apply(event);
  const exchange = history.first;
  if (!exchange) return '';
  const linesOf = await judgedLines(events, exchange, redactor, { observer: 'runtime', isSaved: false });
  return plainText(linesOf(true));
}

describe('threats, row 25: nothing of a truncated secret is shown', () => {
  test.each(STORIES)('%s: in %s', async (id, _, moments) => {
    const events = eventsOf(moments);
    const redactor = checkedSecrets(createRedactor([SECRET]));
    for (const event of events) redactor.learn(event);
    const { checks } = await checkTranscript(events);
    const row = checks.find(each => each.id === id);
    expect(['fail', 'warn']).toContain(row?.status);
    expect(JSON.stringify([row?.reason, row?.actual])).toContain('…');
    expect(await reported(events, redactor)).not.toContain(PIECE);
    expect(await judged(events, redactor)).not.toContain(PIECE);
  });
});
