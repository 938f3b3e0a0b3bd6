import { expect, test } from 'vitest';
import { gather } from '../../../src/rules/evidence/gather.js';
import { checksOf } from '../../../src/rules/report.js';
import { plainText } from '../../../src/story/checks/plain-text.js';
import { learnFound } from '../../../src/story/checks/shareable-run.js';
import { wireLines } from '../../../src/story/checks/wire-lines.js';
import { createRedactor } from '../../../src/text/redact.js';
import { acknowledged, call, eventsOf, resultArrives } from '../../exchange/build.js';

const SECRET = `ghp_${'a1'.repeat(18)}`;

test('row 25: a credential that a rule found in a message is in no report, and where it stood is shown', async () => {
  const display_as = [{ type: 'text', content: `the key ${SECRET} is yours` }];
  const events = eventsOf(call(), acknowledged(), resultArrives({ display_as }));
  const checks = checksOf('tool', [await gather(events, 'runtime', 'tool')]);
  const found = checks.find(({ id }) => id === 'TOOL-SECRET');
  const redactor = createRedactor();
  learnFound(checks, events, redactor);
  const text = plainText(wireLines(found ?? { events: [] }, { events, redactor }));
  expect(text).toContain('display_as[0].content  "the key [redacted] is yours"');
  expect(text).not.toContain(SECRET);
});
