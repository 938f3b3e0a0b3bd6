import { describe, expect, test } from 'vitest';
import { checkTranscript } from '../../src/check/judge.js';
import type { Event } from '../../src/events/events.js';
import type { RequirementId } from '../../src/protocol/requirements.js';
import { at, eventsOf, type Moment } from '../events/build.js';
import { discovery, notice, planned, someCall } from './samples/parts.js';

/** A rule that could not run names the failed rule that explains it, and only where the evidence connects the two. */

async function causeOf(id: RequirementId, events: readonly Event[]) {
  const { checks } = await checkTranscript(events, { sides: ['tool'] });
  const { status, cause = null } = checks.find(each => each.id === id) ?? {};
  return { status, cause };
}

const [silent, answered] = [someCall('silent'), someCall('answered')];

const made = (key: string, checks: string[]): Moment[] => [
  { kind: 'planned', by: 'probe', plan: 'a probe', checks, calls: [key] },
];

describe('a rule that could not run', () => {
  test('names the rule that no call met', async () => {
    const events = eventsOf(planned(['TOOL-ALWAYS', 'TOOL-ID']), silent.begun(), at(5_000, silent.waited()));
    expect(await causeOf('TOOL-ID', events)).toEqual({ status: 'could-not-run', cause: 'TOOL-ALWAYS' });
  });

  test('names the rule that its own calls did not meet', async () => {
    const events = eventsOf(
      made('silent', ['TOOL-RETRY']),
      silent.begun(),
      at(5_000, silent.waited()),
      answered.begun(),
      answered.result(),
    );
    expect(await causeOf('TOOL-RETRY', events)).toEqual({ status: 'could-not-run', cause: 'TOOL-ALWAYS' });
  });

  test('names no rule that its own calls met', async () => {
    const events = eventsOf(
      silent.begun(),
      at(5_000, silent.waited()),
      made('answered', ['TOOL-RETRY']),
      answered.begun(),
      answered.result(),
    );
    expect(await causeOf('TOOL-RETRY', events)).toEqual({ status: 'could-not-run', cause: null });
  });

  test('names an invalid toolset, without which nothing is called', async () => {
    const events = eventsOf(planned(['TOOL-ACK']), discovery({ name: 'broken' }));
    expect(await causeOf('TOOL-ACK', events)).toEqual({ status: 'could-not-run', cause: 'TOOL-DISCOVER' });
  });
});

test('a rule that did not pass is the cause of no warning and no failure', async () => {
  const a = someCall('a');
  const { checks } = await checkTranscript(
    eventsOf(a.sent('{"operation":'), a.answered({ status: 500 }), notice('close', { status: 404 })),
    { sides: ['tool'] },
  );
  const open = checks.filter(({ status }) => status === 'warn' || status === 'fail');
  expect(open.map(({ id }) => id)).toEqual(['TOOL-MALFORMED', 'TOOL-CLOSE']);
  for (const check of open) expect(check.cause).toBeUndefined();
});
