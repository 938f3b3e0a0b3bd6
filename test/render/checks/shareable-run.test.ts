import { expect, test } from 'vitest';
import { conformanceOf } from '../../../src/check/conformance.js';
import { gather } from '../../../src/check/evidence.js';
import { judge } from '../../../src/check/judge.js';
import { RULES } from '../../../src/check/rules/all.js';
import { shareableRun } from '../../../src/render/check-report.js';
import { createRedactor } from '../../../src/util/redact.js';
import { someCall } from '../../check/samples/parts.js';
import { eventsOf } from '../../events/build.js';

const SECRET = 'ghp_0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f';

/** The call that is reported, after secrets are out of it. */
async function toldCall(id: string, operation = 'list') {
  const call = someCall(id, { operation });
  const events = eventsOf(call.sent(), call.answered(), call.result({ id: 'another' }));
  const check = judge(RULES['TOOL-ID'], await gather({ events }, 'tool'));
  const run = conformanceOf([check], [], { excuses: [], sides: ['tool'], isStrict: false });
  return shareableRun(run, createRedactor([SECRET])).checks[0]?.calls?.[0];
}

test('a name that someone made endless is cut', async () => {
  const endless = 'x'.repeat(100_000);
  const short = `${'x'.repeat(200)}…`;
  expect(await toldCall(endless, endless)).toEqual({ operation: short, id: short });
});

test('threats, row 25: of a secret that lies across the cut nothing is left', async () => {
  const name = `${'x'.repeat(180)}${SECRET}`;
  const clean = `${'x'.repeat(180)}[redacted]`;
  expect(await toldCall(name, name)).toEqual({ operation: clean, id: clean });
});
