import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../../src/util/limits.js';
import { intakeWith, replying, type StartedMock, startMock } from '../start-mock.js';

const ask = replying({
  choice: { prompt: 'Sure?', choices: ['Yes', 'No'] },
  // biome-ignore lint/suspicious/noThenProperty: the word of the file format
  then: { Yes: { payload: 'written' }, No: { payload: 'left' } },
});

async function asked(mock: StartedMock, id = 'i') {
  const call = await mock.invoke({ id });
  const { body } = await call.waitFor('user_choice');
  const path = String(body?.['response_url']).slice(mock.tool.url.length);
  return { call, path, answer: (value: unknown) => mock.post(path, value) };
}

describe('TOOL-CHOICE: the response URL', () => {
  test('400 for an invalid answer, and the question stays open', async () => {
    await using mock = await startMock(ask);
    const { call, answer } = await asked(mock);
    const invalid = [
      ...[2, -1, 0.5, 'Yes'].map(selected => ({ id: 'i', selected })),
      ...[{ id: 'i' }, { id: 'j', selected: 0 }, { selected: 0 }, 'selected=0'],
    ];
    for (const body of invalid) {
      const refused = await answer(body);
      expect([body, refused.status, await refused.text()]).toEqual([
        body,
        400,
        'The answer must contain the id of the call and the index of a choice: {id, selected}\nFor example {"id":"i","selected":1}; choices: 0 Yes, 1 No\n',
      ]);
    }
    const message =
      'invalid answer to a choice: it must contain the id of the call and the index of a choice';
    expect(mock.eventsOfKind('warned').map(each => each.message)).toEqual(invalid.map(() => message));
    expect(mock.tool.verify().problems).toEqual([
      expect.stringMatching(
        /^undelivered callback: .+ \(i\) to .+: the runtime has not answered the question: its answer was refused with 400: The answer must contain the id of the call and the index of a choice: \{id, selected\}$/,
      ),
    ]);
    expect((await answer({ id: 'i', selected: 1, more: 1 })).status).toBe(200);
    expect((await call.result()).body).toMatchObject({ text: 'left' });
    expect(await mock.tool.verified()).toMatchObject({ ok: true });
  });

  test('the first answer counts; a repeated one gets 200, before and after the end of the call', async () => {
    await using mock = await startMock(ask);
    const { call, answer } = await asked(mock);
    const statuses = await Promise.all(
      [0, 1, 0].map(async selected => (await answer({ id: 'i', selected })).status),
    );
    await call.result();
    await mock.tool.waitForDelivery('i');
    expect([...statuses, (await answer({ id: 'i', selected: 1 })).status]).toEqual([200, 200, 200, 200]);
    expect(mock.eventsOfKind('decided')).toHaveLength(1);
    expect(call.callbacks.filter(({ body }) => body?.['type'] === 'tool_result')).toHaveLength(1);
  });

  test('threats, "late result": an answer after a cancel gets 200 and does nothing', async () => {
    await using mock = await startMock(ask);
    const { call, answer } = await asked(mock);
    await mock.runtime.cancel(mock.tool.url, 'g', 'i');
    await call.result();
    expect((await answer({ id: 'i', selected: 0 })).status).toBe(200);
    expect(mock.eventsOfKind('decided')).toEqual([]);
  });

  test('row 1: a guessed path is not found, and the warning does not contain the token', async () => {
    await using mock = await startMock(ask);
    const { path } = await asked(mock);
    for (const wrong of [path.slice(0, -1), `${path}x`, '/choices/', `/choices/${'A'.repeat(43)}`])
      expect((await mock.post(wrong, { id: 'i', selected: 0 })).status).toBe(404);
    const warnings = mock.eventsOfKind('warned').map(({ message }) => message);
    expect(warnings[0]).toBe('request refused with 404: POST /choices/… (no route for this path)');
    expect(warnings.join()).not.toContain(path.slice(9, 30));
  });

  test('row 7: the path of one call does not answer another', async () => {
    await using mock = await startMock(ask);
    const first = await asked(mock, 'a');
    await asked(mock, 'b');
    expect((await first.answer({ id: 'b', selected: 0 })).status).toBe(400);
  });
});

test('open questions stay; of the closed ones the oldest are forgotten', async () => {
  const { choices } = (await intakeWith(null)).questions;
  const about = { calls: ['k'], thread: 'g' };
  const ask = () => choices.open({ prompt: '?', choices: ['a'], default: 0, id: 'i', search: '', about });
  const open = Array.from({ length: 2 * LIMITS.callsRemembered.value + 10_000 }, ask);
  expect(choices.at(open[0]?.path ?? '')).toBe(open[0]);
  for (const question of open.slice(1)) question.close();
  const isKept = ({ path }: { readonly path: string }) => choices.at(path) !== undefined;
  expect([open[0], open[1], open.at(-10_000), open.at(-1)].map(each => each && isKept(each))).toEqual([
    true,
    false,
    true,
    true,
  ]);
});
