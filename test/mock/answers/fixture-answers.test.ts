import { describe, expect, test } from 'vitest';
import { fakeClock } from '../../support/fake-clock.js';
import { replying, type Stage, stageWith } from '../stage.js';

async function textOf(stage: Stage, options: object = {}) {
  return (await (await stage.invoke(options)).result()).body?.['text'];
}

describe('templates know the call', () => {
  test.each<[string, string | RegExp]>([
    ['{{operation}} {{id}} {{group_id}} {{call_id}} {{user_id}}', 'op i g c u'],
    ['{{count}} for {{key}}', '1 for g'],
    ['{{arguments.a.b}}', 'deep'],
    ['{{now}}', '2025-01-01T00:00:01.000Z'],
    ['{{uuid}}', /^[\da-f]{8}-[\da-f-]{27}$/],
    ['\\{{count}}', '{{count}}'],
    [
      'row 29: <%= process.exit(1) %>{{arguments.constructor}}{{arguments.a.__proto__}}',
      'row 29: <%= process.exit(1) %>',
    ],
  ])('%s', async (template, text) => {
    await using stage = await stageWith(replying({ result: { text: template } }), { clock: fakeClock() });
    const given = await textOf(stage, { args: { a: { b: 'deep' } }, callId: 'c', userId: 'u' });
    expect(given).toEqual(typeof text === 'string' ? text : expect.stringMatching(text));
  });

  test('row 29: what was filled in is not looked at again', async () => {
    await using stage = await stageWith(replying({ payload: '{{arguments.a}}' }));
    expect(await textOf(stage, { args: { a: '{{group_id}}' } })).toBe('{{group_id}}');
  });
});

test('a sequence that is exhausted ends in an error that says what to do', async () => {
  const file = { fixtures: [{ id: 'short', match: { operation: 'op' }, sequence: [{ payload: '1' }] }] };
  await using stage = await stageWith(file);
  await textOf(stage, { id: 'a' });
  expect(await textOf(stage, { id: 'b' })).toMatch(
    /^Error: the sequence of the fixture "short" has 1 reply .* call 2/,
  );
});
