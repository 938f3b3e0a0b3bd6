import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withoutColours } from '../../src/util/visible.js';
import { type Folder, temporaryFolder } from '../e2e/support/folder.js';
import { type Peer, startPeer } from '../e2e/support/peers.js';
import { startScript } from '../e2e/support/session-mock.js';
import { openShell, type Screen } from './support/screen.js';
import { openHere } from './support/screen-here.js';

const CTRL_C = '\u0003';
const ACCESSIBLE = { env: { ACCESSIBLE: '1' } };
const tools = [{ name: 'ask', description: 'Ask', input_schema: { type: 'object' } }];
const SCRIPT = {
  session: { tools, rounds: [{ calls: [{ tool_name: 'ask', args: {}, id: 'call_1' }] }], answer: 'Welcome' },
};

let stdlib: Peer;
let folder: Folder;

beforeAll(async () => {
  [stdlib, folder] = await Promise.all([startPeer('stdlib'), temporaryFolder()]);
});

afterAll(() => Promise.all([stdlib.stop(), folder[Symbol.asyncDispose]()]));

/** Each change is a line: nothing moves the cursor, erases, or is drawn again. Colours are allowed. */
function expectLines({ emulator }: Pick<Screen, 'emulator'>): void {
  const text = withoutColours(emulator.raw).replaceAll(/\r+\n/g, '\n');
  for (const control of ['\u001b', '\r', '\b']) expect(text).not.toContain(control);
}

describe.concurrent('ACCESSIBLE=1: lines in place of a screen', () => {
  test.each([
    ['ACCESSIBLE', '1'],
    ['INK_SCREEN_READER', 'true'],
  ])(
    'RT-CHOICE: with %s=%s, invoke prints its steps, and a question is answered by typing',
    async (name, value) => {
      const options = { columns: 160, env: { [name]: value } };
      await using screen = openShell(`$TOOL invoke ${stdlib.url} ask`, options);
      await screen.shows('Your choice [0]');
      for (const row of ['Which environment?', '  0 staging (default)', '  1 production', '  2 neither'])
        expect(screen.emulator.rows()).toContain(row);
      screen.type('1\r');
      expect(await screen.ended).toBe(0);
      expect(screen.text()).toContain('Your choice [0] 1\n');
      expect(screen.text()).toContain('Chosen: production');
      expectLines(screen);
    },
  );

  test('RT-CHOICE: session answer prints the events, and a question is answered by typing', async () => {
    const platform = await startScript(SCRIPT);
    const words = ['session', 'answer', platform.url, platform.session, '--tool', stdlib.url];
    const env = { API_KEY: platform.key, ...ACCESSIBLE.env };
    await using screen = openShell(`$TOOL ${words.join(' ')}`, { columns: 160, env });
    await screen.shows('Your choice [0]');
    screen.type('2\r');
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/waits for a call: ask/);
    expect(screen.text()).toContain('Chosen: neither');
    expect(screen.text()).toMatch(/^ANSWER\nWelcome$/m);
    expectLines(screen);
    await platform.stop();
  });

  test('Ctrl-C at a question cancels the call', async () => {
    await using screen = openShell(`trap : INT; $TOOL invoke ${stdlib.url} ask`, {
      columns: 160,
      ...ACCESSIBLE,
    });
    await screen.shows('Your choice [0]');
    screen.type(CTRL_C);
    expect(await screen.ended).toBe(130);
    expect(screen.text()).toMatch(/call canceled, answered 200/);
    expectLines(screen);
  });

  test('RT-OAUTH: the URL of a page is printed whole', async () => {
    await using screen = openShell(`$TOOL invoke ${stdlib.url} login ms=500`, {
      columns: 160,
      ...ACCESSIBLE,
    });
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/• visit https?:\/\/\S+ to continue/);
    expectLines(screen);
  });

  test.each([['mock-tool --demo'], ['session mock']])('%s prints lines until Ctrl-C', async command => {
    await using screen = openShell(`trap : INT; $TOOL ${command}`, { columns: 160, ...ACCESSIBLE });
    await screen.shows('http://127.0.0.1:');
    screen.type(CTRL_C);
    expect(await screen.ended).toBe(0);
    expectLines(screen);
  });

  test('check overwrites no line', async () => {
    await using screen = openShell('$TOOL check --demo --only TOOL-ID', { columns: 160, ...ACCESSIBLE });
    expect(await screen.ended).toBe(0);
    expectLines(screen);
  });

  test.each([['render result.json -o ui'], ['result.json']])('%s prints the file', async command => {
    const result = { type: 'tool_result', group_id: 't', id: 'c', text: 'the text' };
    await writeFile(join(folder.path, 'result.json'), JSON.stringify(result));
    await using screen = openShell(`$TOOL ${command}`, { cwd: folder.path, ...ACCESSIBLE });
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/^LLM text, 8 bytes\nthe text$/m);
    expectLines(screen);
  });

  test.each([['$TOOL'], ['$TOOL invoke -i :1']])('%s names the variable, and other commands', async line => {
    await using screen = openShell(line, { columns: 160, ...ACCESSIBLE });
    expect(await screen.ended).toBe(2);
    expect(screen.text()).toContain('error: the workbench draws a screen, and ACCESSIBLE asks for lines');
    expect(screen.text()).toContain('hint: protocol-cli toolset <url> lists operations');
    expectLines(screen);
  });

  test.each([[['invoke', ':1', 'ask', '-o', 'ui']], [['mock-tool', '-o', 'ui']]])(
    '%j names the variable',
    async words => {
      await using screen = openHere(words, { columns: 160, ...ACCESSIBLE });
      expect(await screen.ended).toBe(2);
      expect(screen.text()).toContain('error: -o ui draws a screen, and ACCESSIBLE asks for lines');
    },
  );
});
