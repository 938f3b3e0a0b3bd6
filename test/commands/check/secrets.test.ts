import { expect, test } from 'vitest';
import { gatherEvidence } from '../../../src/check/evidence.js';
import { checksOf } from '../../../src/check/judge.js';
import { checkedSecrets } from '../../../src/commands/check/secrets.js';
import { transcriptWriter } from '../../../src/events/transcript-writer.js';
import { createRedactor } from '../../../src/util/redact.js';
import {
  acknowledged,
  answered,
  call,
  eventsOf,
  INVOCATION,
  type Moment,
  resultArrives,
} from '../../events/build.js';
import { wireText } from '../../support/wire-text.js';

const SECRET = `ghp_${'a1'.repeat(18)}`;

/** Returns the transcript of a check. */
function saved(...parts: readonly (readonly Moment[])[]): string {
  const events = eventsOf(...parts);
  const redactor = checkedSecrets(createRedactor());
  for (const event of events) redactor.learn(event);
  const writer = transcriptWriter(redactor);
  return events.flatMap(event => writer.event(event)).join('\n');
}

const begun = [...call(), ...acknowledged()];

test.each<[string, string, string]>([
  ['a GitHub token', `the key ${SECRET} is yours`, SECRET],
  ['a bearer token', `Authorization: Bearer ${'x1'.repeat(12)}`, 'x1'.repeat(12)],
  ['several tokens', `sk-${'k1'.repeat(12)} and AKIAIOSFODNN7EXAMPLE`, 'AKIAIOSFODNN7EXAMPLE'],
  ['the tokens of a login', '{"access_token": "c4n4ry-sings"}', 'c4n4ry-sings'],
  ['a login code', 'https://tool.example/back?code=c4n4ry-sings', 'c4n4ry-sings'],
  ['a whole private key', '-----BEGIN RSA PRIVATE KEY-----\nMIIc4n4ry\n-----END RSA', 'MIIc4n4ry'],
])('row 25: does not save %s that a tool sends', (_, text, secret) => {
  const written = saved(begun, resultArrives({ text }));
  expect(written).toContain('[redacted]');
  expect(written).not.toContain(secret);
});

test('row 25: nor a secret in an acknowledgement or in invalid JSON', () => {
  expect(saved(call(), answered(200, { body: `token=${SECRET}` }))).not.toContain(SECRET);
});

test('a value that the call itself sent is not reported as leaked', () => {
  const invocation = { ...INVOCATION, arguments: { token: SECRET } };
  expect(saved(call({ invocation }), acknowledged(), resultArrives({ text: SECRET }))).toContain(SECRET);
});

test('row 25: a credential is in no report, but its place is', async () => {
  const display_as = [{ type: 'text', content: `the key ${SECRET} is yours` }];
  const events = eventsOf(begun, resultArrives({ display_as }));
  const checks = checksOf('tool', [await gatherEvidence({ events }, 'tool')]);
  const found = checks.find(({ id }) => id === 'TOOL-SECRET');
  const redactor = checkedSecrets(createRedactor());
  for (const event of events) redactor.learn(event);
  const text = wireText(found ?? { events: [] }, { events, redactor });
  expect(found?.status).toBe('fail');
  expect(text).toContain('display_as[0].content  "the key [redacted] is yours"');
  expect(text).not.toContain(SECRET);
});
