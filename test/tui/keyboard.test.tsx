import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/system/clock.js';
import { mount } from '../../src/tui/mount.js';
import { useKeys, usePaste, useWheel } from '../../src/tui/use-keys.js';
import { LIMITS } from '../../src/util/limits.js';
import { eventually } from '../e2e/support/eventually.js';
import { fakeKeyboard } from '../screen/support/fake-keyboard.js';

const ESC = '\u001b';

const CTRL_C = '\u0003';

const LAST = '\u0005';

const START = `${ESC}[200~`;

const END = `${ESC}[201~`;

interface ReaderProps {
  readonly on: (event: string) => void;
}

function Reader({ on }: ReaderProps) {
  useKeys(({ name, text }) => on(name || `text ${text}`));
  usePaste(text => on(`paste ${text}`));
  useWheel(rows => on(`wheel ${rows}`));
  return null;
}

/** A component of Ink that records what it receives. */
async function openReader() {
  const keyboard = fakeKeyboard();
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = Object.assign(stdout, { isTTY: true, columns: 80, rows: 24 });
  const events: string[] = [];
  const streams = { stdin: keyboard.stream, stdout: terminal as unknown as NodeJS.WriteStream };
  const view = mount(<Reader on={event => events.push(event)} />, streams, { level: 0 });
  await eventually('raw mode', () => keyboard.isRaw());
  return {
    keyboard,
    events,
    async [Symbol.asyncDispose]() {
      view.unmount();
      await view.over;
    },
  };
}

/** What it receives of these chunks. */
async function eventsOf(...chunks: readonly string[]): Promise<readonly string[]> {
  await using reader = await openReader();
  for (const chunk of [...chunks, LAST]) reader.keyboard.type(chunk);
  await eventually('the last key', () => reader.events.at(-1) === 'ctrl+e');
  return reader.events.slice(0, -1);
}

test.each([
  ['G', 'G'],
  [' ', 'space'],
  ['é', 'é'],
  ['😀', '😀'],
  ['\r', 'enter'],
  ['\t', 'tab'],
  ['\n', 'ctrl+j'],
  ['\b', 'erase'],
  ['\u007f', 'erase'],
  ['\u0003', 'ctrl+c'],
  ['ab\u007f', 'text ab\b'],
  ['escape', 'text escape'],
  ['constructor', 'text constructor'],
  [`${ESC}${ESC}x`, 'escape', 'x'],
  [`${ESC}x`, 'meta+x'],
  [`${ESC}.`, '.'],
  [`${ESC}\r`, 'meta+enter'],
  [`${ESC}\u007f`, 'meta+erase'],
  [`${ESC}\u0003`, 'ctrl+c'],
  [`${ESC}[A`, 'up'],
  [`${ESC}OB`, 'down'],
  [`${ESC}[1;2C`, 'right'],
  [`${ESC}[1;5D`, 'ctrl+left'],
  [`${ESC}Od`, 'ctrl+left'],
  [`${ESC}[1;3D`, 'meta+left'],
  [`${ESC}${ESC}[A`, 'meta+up'],
  [`${ESC}b`, 'meta+b'],
  [`${ESC}[H`, 'home'],
  [`${ESC}[1~`, 'home'],
  [`${ESC}OF`, 'end'],
  [`${ESC}[4~`, 'end'],
  [`${ESC}[5~`, 'pageup'],
  [`${ESC}[6~`, 'pagedown'],
  [`${ESC}[3~`, 'delete'],
  [`${ESC}[3;5~`, 'ctrl+delete'],
  [`${ESC}[Z`, 'shift+tab'],
  ['jj\r?', 'text jj\r?'],
  [`j${ESC}[Bk`, 'j', 'down', 'k'],
])('%j is the key %s', async (input, ...events) => {
  expect(await eventsOf(input)).toEqual(events);
});

test.each([
  ['a Ctrl modifier with an unknown key', `${ESC}[1;5G`],
  ['an unknown letter with Ctrl', `${ESC}[1;5I`],
  ['a number without a key, with Ctrl', `${ESC}[25;5~`],
  ['a mode of the terminal', `${ESC}[?25h`],
  ['a colour', `${ESC}[31m`],
  ['a function key', `${ESC}OP`],
  ['a function key of the Linux console', `${ESC}[[A`],
  ['a key of the kitty protocol', `${ESC}[97;5u`],
  ['the release of a key', `${ESC}[1;1:3A`],
  ['the end of a paste alone', `${ESC}[201~`],
  ['a click', `${ESC}[<0;5;6M${ESC}[<0;5;6m`],
  ['a click in an old terminal', `${ESC}[M !!`],
])('%s has no effect', async (_, sequence) => {
  expect(await eventsOf(`a${sequence}`, 'b')).toEqual(['a', 'b']);
});

test.each([
  [[ESC, '[A'], ['up']],
  [[`${ESC}[`, 'A'], ['up']],
  [[`${ESC}[1;`, '5D'], ['ctrl+left']],
  [[`${ESC}O`, 'B'], ['down']],
  [[`${ESC}[1;5`, 'G', 'a'], ['a']],
  [
    [`${ESC}[<6`, '4;5;6Ma'],
    ['wheel -3', 'a'],
  ],
  [[`${ESC}[M `, '!', '!a'], ['a']],
])('the chunks %j are %j', async (chunks, events) => {
  expect(await eventsOf(...chunks)).toEqual(events);
});

test.each([[[ESC]], [[`${ESC}${ESC}`]], [[ESC, ESC]]])('without more, %j is the key escape', async chunks => {
  await using reader = await openReader();
  for (const chunk of chunks) reader.keyboard.type(chunk);
  await eventually('a key', () => reader.events.length > 0);
  expect(reader.events).toEqual(['escape']);
});

test('the start of a sequence without its rest has no effect', async () => {
  await using reader = await openReader();
  reader.keyboard.type(`a${ESC}[`);
  await eventually('the key before it', () => reader.events.length > 0);
  await new Promise(resolve => systemClock.after(100, () => resolve(null)));
  reader.keyboard.type('b');
  await eventually('the key after it', () => reader.events.length > 1);
  expect(reader.events).toEqual(['a', 'b']);
});

test.each([
  [[`${START}q${END}`], ['paste q']],
  [[`a${START}q\r${END}b`], ['a', 'paste q\r', 'b']],
  [[`${START}${ESC}[A${ESC}${END}`], [`paste ${ESC}[A${ESC}`]],
  [
    [`${START}one`, ' two', ` three${END}\r`],
    ['paste one two three', 'enter'],
  ],
  [
    [`${ESC}[20`, `0~one${ESC}`, '[201', '~q'],
    ['paste one', 'q'],
  ],
  [[`${START}one${ESC}[20`, `0~two${END}`], [`paste one${START}two`]],
  [[`${START}${END}${START}q${END}`], ['paste ', 'paste q']],
  // its end was lost
  [
    [`${START}one${ESC}`, CTRL_C],
    ['paste one', 'ctrl+c'],
  ],
])('the chunks %j are %j', async (chunks, events) => {
  expect(await eventsOf(...chunks)).toEqual(events);
});

test('pasted text beyond the limit is cut; the keys after it work', async () => {
  const { value } = LIMITS.pasteChars;
  const half = 'x'.repeat(value * 0.6);
  const [pasted = '', ...others] = await eventsOf(`${START}${half}`, half, `${half}${END}`, 'q');
  expect(pasted.length).toBe('paste '.length + value);
  expect(others).toEqual(['q']);
});

test.each([
  [`${ESC}[<64;1;1M`, 'wheel -3'],
  [`${ESC}[<65;80;24M`, 'wheel 3'],
])('%j is %s', async (sequence, event) => {
  expect(await eventsOf(sequence)).toEqual([event]);
});

test('input after the end of raw mode is left to the next reader', async () => {
  const reader = await openReader();
  reader.keyboard.type('a');
  await eventually('the first key', () => reader.events.length > 0);
  await reader[Symbol.asyncDispose]();
  expect(reader.keyboard.isRaw()).toBe(false);
  reader.keyboard.type('for the shell');
  await new Promise(setImmediate);
  expect(reader.keyboard.stream.read()).toBe('for the shell');
  expect(reader.events).toEqual(['a']);
});
