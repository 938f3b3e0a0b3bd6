import { expect, test } from 'vitest';
import { ask } from '../e2e/support/http.js';
import { startListeningHere } from '../e2e/support/listening.js';

const IDS = { group_id: 'thread_1', id: 'call_1' };
const QUESTION = {
  ...{ type: 'user_choice', ...IDS, prompt: 'Where?', choices: ['here', 'there'], default: 0 },
  response_url: 'http://tool:3001/choices/0123456789abcdef?code=canary',
};

test.each(['plain', 'json', 'ndjson'])(
  'row 25: the address for answering a question has no token in %s',
  async output => {
    await using listening = await startListeningHere(['-o', output]);
    await listening.post(QUESTION);
    await listening.tells('http://tool:3001/choices/');
    const { stdout } = await listening.stop();
    expect(stdout).toContain('http://tool:3001/choices/[redacted]');
    expect(stdout).not.toMatch(/0123456789abcdef|canary/);
  },
);

test('row 1: guessing does not flood the output: wrong addresses are printed the first, tenth, hundredth time', async () => {
  await using listening = await startListeningHere();
  for (let n = 0; n < 30; n++) await ask(`${listening.callback_url}${n}`, { body: '{}' });
  await listening.post({ type: 'tool_result', ...IDS, text: 'hello' });
  await listening.tells('LLM text');
  const { stdout, stderr } = await listening.stop();
  expect(
    stdout.match(/was refused with 404: callbacks go to the callback_url of the first line/g),
  ).toHaveLength(2);
  expect(stderr).toBe(
    'warning: 30 posts to a wrong callback URL: /callback/…; expected /callback/<token> [TOOL-OPAQUE]\n',
  );
});

test('a cleared view is reported, and nothing is drawn', async () => {
  await using listening = await startListeningHere();
  await listening.post({ type: 'view_update', group_id: 'thread_1', view_type: 'diff', content: {} });
  expect(await listening.tells('thread_1')).toMatch(/ • view diff cleared\n.*group_id thread_1\n$/);
});
