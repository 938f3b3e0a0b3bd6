import { describe, expect, test } from 'vitest';
import { ask } from '../e2e/support/http.js';
import { openProgram, type ScreenOptions } from './support/screen.js';
import { openHere, type ScreenHere } from './support/screen-here.js';

const ESC = '\u001b';
const HOSTILE = `${ESC}]0;owned\u0007${ESC}]52;c;b3duZWQ=\u0007${ESC}[2J\rover\u009b31m\u202e`;
const HARMLESS = '␛]0;owned␇␛]52;c;b3duZWQ=␇␛[2J␍over<U+009B>31m<U+202E>';
const SIZE = { columns: 160, rows: 60 };
const CTRL_C = '\u0003';

interface Listening extends ScreenHere {
  post(message: object): Promise<number>;
}

/** `listen` as a person at a terminal meets it. */
function listening(args: readonly string[] = [], options: ScreenOptions = {}): Promise<Listening> {
  return met(openHere(['listen', ...args], { ...SIZE, ...options }));
}

/** Once it says where it is. */
async function met(screen: ScreenHere): Promise<Listening> {
  await screen.shows(/\/callback\/[\w-]{43}$/m);
  const [url = ''] = /http\S+\/callback\/[\w-]{43}/.exec(screen.text()) ?? [];
  const post = async (message: object) => (await ask(url, { body: JSON.stringify(message) })).status;
  return { ...screen, post };
}

const IDS = { group_id: 't', id: 'c' };

describe.concurrent('listen on a terminal', () => {
  test('prints its URL, shows callbacks, and ends with Ctrl-C', async () => {
    await using screen = await met(openProgram(['listen'], SIZE));
    expect(screen.text()).toMatch(/^listening at http:\/\/127\.0\.0\.1:\d+, give tools this callback_url:\n/);
    await screen.post({ type: 'tool_result', ...IDS, text: 'hello' });
    await screen.shows('LLM text');
    const text = screen.text();
    expect(text).toMatch(
      /✓ result\n +would match a pending call with group_id t and id c\n\nHUMAN text .*\nhello\n\nLLM text/,
    );
    screen.type(CTRL_C);
    expect(await screen.ended).toBe(0);
    expect(screen.emulator.isAlternate).toBe(false);
    expect(screen.emulator.isCursorVisible).toBe(true);
  });

  test('a consent URL is printed whole, once', async () => {
    await using screen = await listening();
    await screen.post({ type: 'oauth', ...IDS, auth_url: 'https://auth.example/consent?state=1' });
    await screen.shows('visit https://auth.example/consent?state=1 to continue');
    expect(screen.text().match(/state=1/g)).toHaveLength(1);
  });

  test('threats, row 24: callbacks have no effect on the terminal and hide nothing', async () => {
    await using screen = await listening(['--expect', 'x/y', '--expect', `${HOSTILE}/${HOSTILE}`]);
    const ids = { group_id: HOSTILE, id: HOSTILE };
    const about = { prompt: HOSTILE, choices: [HOSTILE], default: 0, response_url: `http://h/${HOSTILE}` };
    for (const message of [
      { type: 'user_choice', ...ids, ...about },
      {
        type: 'tool_result',
        ...ids,
        text: HOSTILE,
        subscription: true,
        display_as: [{ type: HOSTILE, content: HOSTILE }],
      },
      { type: 'subscription_event', group_id: HOSTILE, tool_call_id: HOSTILE, text: HOSTILE },
      { type: 'view_update', group_id: HOSTILE, view_type: HOSTILE, content: { [HOSTILE]: HOSTILE } },
      { type: 'tool_result', group_id: HOSTILE, id: 'other', text: HOSTILE },
      { type: HOSTILE },
    ])
      await screen.post(message);
    await screen.shows('callback');
    await screen.shows(/discarded with 404/);
    screen.type(CTRL_C);
    expect(await screen.ended).toBe(0);
    expect(screen.emulator.mischief).toEqual({ commands: [], titles: [], bells: 0 });
    expect(screen.emulator.raw).not.toContain(`${ESC}[2J`);
    expect(screen.emulator.history().replaceAll('\n', '')).toContain(HARMLESS);
  });
});
