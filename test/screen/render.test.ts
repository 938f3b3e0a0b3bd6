import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Folder, temporaryFolder } from '../e2e/support/folder.js';
import { common } from './support/cell.js';
import { openShell } from './support/screen.js';
import { openHere, openStepsHere, type Step } from './support/screen-here.js';

const UNHARMED = { commands: [], titles: [], bells: 0 };

let folder: Folder;

beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

test('a text longer than the screen is printed whole', async () => {
  const text = Array.from({ length: 300 }, (_, line) => `line ${line + 1}`).join('\n');
  const result = { type: 'tool_result', group_id: 'g', id: 'i', text };
  const file = await folder.write('long.json', JSON.stringify(result));
  await using screen = openHere(['render', file], { columns: 80, rows: 24 });
  expect(await screen.ended).toBe(0);
  expect(screen.emulator.history().match(/^line \d+$/gm)).toHaveLength(600);
});

test('-o ui shows it full screen, and scrolls', async () => {
  const text = Array.from({ length: 300 }, (_, line) => `line ${line + 1}`).join('\n');
  const file = await folder.write(
    'result.json',
    JSON.stringify({ type: 'tool_result', group_id: 'g', id: 'i', text }),
  );
  await using screen = openHere(['render', file, '-o', 'ui'], { columns: 80, rows: 24 });
  await screen.shows(/tool_result[\s\S]*HUMAN[\s\S]*line 1\n[\s\S]*LLM[\s\S]*line 1\n[\s\S]*q quit/);
  screen.type('mG');
  await screen.shows(/line 300\n/);
  screen.resize({ columns: 60, rows: 20 });
  await screen.shows(/line 300\n/);
  screen.type('/line 7\r');
  await screen.shows(/line 7\n/);
  screen.type('q');
  expect(await screen.ended).toBe(0);
  expect(screen.emulator.mischief).toEqual(UNHARMED);
});

test('a consent URL is whole on a terminal only (RT-OAUTH)', async () => {
  const auth_url = 'https://auth.example/consent?state=secret';
  const file = await folder.write(
    'o.json',
    JSON.stringify({ type: 'oauth', group_id: 'g', id: 'i', auth_url }),
  );
  await using screen = openShell(`$TOOL render ${file}; $TOOL render ${file} | cat`, { columns: 100 });
  expect(await screen.ended).toBe(0);
  expect(screen.text().match(/visit \S+/g)).toEqual([
    `visit ${auth_url}`,
    'visit https://auth.example/consent',
  ]);
});

const ESC = '\u001b';
const HOSTILE = [
  `${ESC}]0;owned\u0007`,
  `${ESC}]52;c;b3duZWQ=\u0007`,
  `${ESC}[2J${ESC}[3J${ESC}[1;1H`,
  `${ESC}c`,
  '\rover\b\b\u0007',
  '\u009d0;owned\u009c\u009b31m',
  '\u202eoverride\u2066\u200b',
].join(' ');
const HARMLESS = '␛]0;owned␇␛]52;c;b3duZWQ=␇';
const IDS = { group_id: HOSTILE, id: HOSTILE };
const PATCH = `--- a\n+++ a\n@@ -1 +1 @@ ${HOSTILE.replaceAll('\r', '')}\n-${HOSTILE}\n+b\n`;

describe.concurrent('threats, row 24: foreign text on the screen is made visible and has no effect', () => {
  const FILES: readonly (readonly [string, object | string, string?])[] = [
    ['a result', { type: 'tool_result', ...IDS, call_id: HOSTILE, text: HOSTILE }],
    [
      'its segments',
      {
        type: 'tool_result',
        ...IDS,
        text: '',
        display_as: [
          { type: HOSTILE, content: 1 },
          { type: 'diff', content: { path: HOSTILE, patch: PATCH } },
        ],
      },
    ],
    [
      'a question',
      {
        type: 'user_choice',
        ...IDS,
        prompt: HOSTILE,
        choices: [HOSTILE],
        default: 0,
        response_url: `http://127.0.0.1:9/${HOSTILE}`,
      },
    ],
    ['an event', { type: 'subscription_event', group_id: HOSTILE, tool_call_id: HOSTILE, text: HOSTILE }],
    [
      'a view',
      { type: 'view_update', group_id: HOSTILE, view_type: HOSTILE, content: { [HOSTILE]: HOSTILE } },
    ],
    [
      'an invocation',
      {
        operation: HOSTILE,
        arguments: { [HOSTILE]: HOSTILE },
        callback_url: HOSTILE,
        ...IDS,
        user_id: HOSTILE,
        thread_ancestors: [HOSTILE],
      },
    ],
    [
      'a toolset',
      {
        name: HOSTILE,
        endpoint: 'http://127.0.0.1:9/',
        tools: [{ name: 'a', description: HOSTILE, inputSchema: { type: 'object', [HOSTILE]: 1 } }],
      },
    ],
    [
      'a report',
      { warnings: [{ message: HOSTILE }], error: { code: HOSTILE, message: HOSTILE, hint: HOSTILE } },
    ],
    ['a diff', PATCH],
    [
      'a transcript',
      [
        {
          kind: 'header',
          format: 'protocol-cli-transcript/1',
          startedAt: HOSTILE,
          observer: 'runtime',
          program: HOSTILE,
          redaction: '',
        },
        { kind: 'loaded', seq: 0, at: 0, base: HOSTILE, endpoint: HOSTILE, toolset: HOSTILE, operations: [] },
        { kind: 'end', reason: HOSTILE },
      ]
        .map(line => JSON.stringify(line))
        .concat(HOSTILE)
        .join('\n'),
    ],
    ['something that cannot be shown', { [HOSTILE]: 1, type: HOSTILE, id: HOSTILE }, '<U+202E>override'],
    ['broken JSON', `{"a": ${HOSTILE}}`, 'whereavalueisexpected'],
  ];

  test('in files of every kind', async () => {
    const steps: Step[] = ['above'];
    for (const [name, what] of FILES) {
      const text = typeof what === 'string' ? what : JSON.stringify(what);
      steps.push(['render', await folder.write(`${name.replaceAll(' ', '-')}.in`, text)], 'status $?');
    }
    await using screen = openStepsHere(steps, { columns: 140, rows: 50 });
    await screen.ended;
    const { emulator } = screen;
    expect(emulator.mischief).toEqual(UNHARMED);
    expect(emulator.raw).not.toMatch(new RegExp(`${ESC}\\[[23]J`));
    expect(emulator.isCursorVisible).toBe(true);
    const printed = emulator.history().split(/^status [02]$/m);
    expect(printed).toHaveLength(FILES.length + 1);
    for (const [index, [name, , shown = HARMLESS]] of FILES.entries())
      expect([name, printed[index]?.replaceAll(/\s/g, '')]).toEqual([name, expect.stringContaining(shown)]);
  });

  test('visible forms of control characters are inverse', async () => {
    const file = await folder.write(
      'inverse.json',
      JSON.stringify({ type: 'tool_result', ...IDS, text: 'a' }),
    );
    await using screen = openHere(['render', file], { columns: 160 });
    expect(await screen.ended).toBe(0);
    expect(common(screen.emulator.cellsOf('␛'), 'inverse')).toBe(true);
  });
});
