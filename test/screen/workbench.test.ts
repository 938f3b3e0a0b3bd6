import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { REQUIREMENT_IDS } from '../../src/protocol/requirements.js';
import { type Folder, temporaryFolder } from '../e2e/support/folder.js';
import { runHere } from '../e2e/support/in-process.js';
import { startMockHere } from '../e2e/support/mock.js';
import { ROOT } from '../e2e/support/program.js';
import { common } from './support/cell.js';
import type { Size } from './support/emulator.js';
import { openProgram, type Screen } from './support/screen.js';
import { openHere } from './support/screen-here.js';
import { HUNKS, PATCH, WORKSHOP } from './support/workshop.js';

const CTRL_R = '\u0012';
const ERASE = '\u007f';
const DOWN = '\u001b[B';
/** The program's name is dropped first in a narrow row. */
const HEAD = /^(?:protocol-cli {2})?(?: Tools {2}|\[Tools\] )/;
const ENTER = '\r';
const ESCAPE = '\u001b';

test('a tool author calls a tool, reads, answers, and saves the call as a fixture', async () => {
  const size = { columns: 80, rows: 24 };
  await using folder = await temporaryFolder();
  await using tool = await startMockHere([await folder.write('workshop.json', JSON.stringify(WORKSHOP))]);
  await using screen = openProgram(['invoke', '-i', tool.url], { ...size, cwd: folder.path });
  await chooseAndFillIn(screen);
  await resizeWhileItRuns(screen, size);
  await readBothPanes(screen);
  await answerAnother(screen, size);
  const copied = await copyAsCurl(screen, tool.url);
  await saveTheFirst(screen);
  screen.type('q');
  expect(await screen.ended).toBe(0);
  expect(screen.emulator.isAlternate).toBe(false);
  expect(screen.emulator.mischief).toEqual({ commands: [copied], titles: [], bells: 0 });
  expect(screen.emulator.raw).not.toContain('\u001b[3J');
  await expectSameResult(folder, tool.url);
});

async function chooseAndFillIn(screen: Screen): Promise<void> {
  const does = doing(screen);
  await screen.shows('❯   rename');
  await does(ENTER, '❯ path*');
  await does('src/main.rs', 'src/main.rs');
  await does(DOWN, '❯ depth*');
  await does(`12${CTRL_R}`, '✗ must be <= 9');
  expect(rowBelow(screen, '❯ depth*  12')).toContain('✗ must be <= 9');
  await does(`${ERASE}${CTRL_R}`, '1 running');
  expect(screen.text()).not.toContain('Not sent');
}

async function resizeWhileItRuns(screen: Screen, size: Size): Promise<void> {
  await fits(screen, { columns: 60, rows: 12 });
  await fits(screen, { columns: 130, rows: 40 });
  await fits(screen, { columns: 41, rows: 9 });
  await fits(screen, size);
}

async function readBothPanes(screen: Screen): Promise<void> {
  const does = doing(screen);
  await screen.shows('✓ success');
  for (const seen of ['HUMAN display_as[0] diff', `hunk 1/${HUNKS}`, 'LLM text', 'in src/main.rs, 1 deep'])
    expect(screen.text()).toContain(seen);
  await does(ENTER, '❯ HUMAN');
  await does('/', /^\/$/m);
  await does(`needle${ENTER}`, /match 1 of \d+ on line \d+/);
  expect(screen.text()).toContain('welcome("the needle");');
  expect(common(screen.emulator.cellsOf('needle'), 'inverse')).toBe(true);
  await does(']', `hunk 8/${HUNKS}`);
}

async function answerAnother(screen: Screen, size: Size): Promise<void> {
  const does = doing(screen);
  await does('t', '❯   rename');
  await does('j', '❯   publish');
  await does(ENTER, '[Form publish]');
  await does(CTRL_R, 'a answer');
  await does('a', '❯ 0 staging (default)');
  await fits(screen, { columns: 100, rows: 30 });
  await fits(screen, size);
  await does('j', '❯ 1 production');
  await does(ENTER, 'published on production');
}

/** Gives the command that the terminal was sent: its clipboard has what stands on the screen. */
async function copyAsCurl(screen: Screen, url: string): Promise<string> {
  const does = doing(screen);
  await does('y', 'Esc close');
  const [copied = ''] = screen.emulator.mischief.commands;
  const line = pastedFrom(copied);
  expect(line.startsWith(`curl -X POST \\\n  '${url}/invoke'`)).toBe(true);
  expect(line).toContain('"operation": "publish"');
  const bare = withoutSpace(line);
  await screen.emulator.waitFor('what was copied', () => withoutSpace(screen.text()).includes(bare));
  await does(ESCAPE, /❯.* publish /);
  return copied;
}

async function saveTheFirst(screen: Screen): Promise<void> {
  const does = doing(screen);
  await does('k', /❯.* rename /);
  await does('s', 'Save as fixture: rename.yaml');
  await does(ENTER, 'wrote rename.yaml');
}

/** Types, then waits for what that brings onto the screen. */
function doing(screen: Screen) {
  return (keys: string, shown: string | RegExp) => {
    screen.type(keys);
    return screen.shows(shown);
  };
}

/** Waits until the frame fills that size: its head in the first row, its keys in the last but one, and nothing of others. */
async function fits(screen: Screen, size: Size): Promise<void> {
  screen.resize(size);
  await screen.emulator.waitFor(`a frame of ${size.columns}×${size.rows}`, () => {
    const rows = screen.emulator.rows();
    const heads = rows.filter(row => HEAD.test(row));
    return heads.length === 1 && rows[0] === heads[0] && isFoot(rows.at(-2)) && rows.at(-1) === '';
  });
}

function isFoot(row = ''): boolean {
  return /q quit$|Esc later$/.test(row);
}

/** What an OSC 52 puts on the clipboard. */
function pastedFrom(command: string): string {
  return Buffer.from(command.replace(/^52;c;/, ''), 'base64').toString('utf8');
}

async function expectSameResult(folder: Folder, url: string): Promise<void> {
  await using saved = await startMockHere([folder.file('rename.yaml')]);
  const [of, again] = await Promise.all([url, saved.url].map(resultOf));
  expect(again).toEqual(of);
  expect(await readFile(folder.file('rename.yaml'), 'utf8')).not.toContain('publish');
}

/** What the LLM and the human get of the call that the person made. */
async function resultOf(url: string): Promise<unknown> {
  const ids = ['--id', 'same', '--group-id', 'same'];
  const call = ['invoke', url, 'rename', 'path=src/main.rs', 'depth=1', ...ids, '-o', 'json'];
  const { status, stdout } = await runHere(call);
  expect(status).toBe(0);
  const { result } = JSON.parse(stdout);
  expect(result.display_as[0].content.patch).toBe(PATCH);
  return result;
}

/** Where rows are wrapped depends on the width. */
function withoutSpace(text: string): string {
  return text.replaceAll(/\s/g, '');
}

function rowBelow(screen: Screen, start: string): string {
  const rows = screen.emulator.rows();
  return rows[rows.findIndex(row => row.startsWith(start)) + 1] ?? '';
}

test('protocol-cli <transcript> opens full screen on a terminal', async () => {
  await using folder = await temporaryFolder();
  const path = folder.file('run.ndjson');
  await runHere(['invoke', '--demo', '-o', 'json', '--save', path]);
  await using screen = openProgram([path], { columns: 100, rows: 30, cwd: folder.path });
  await screen.shows(/run\.ndjson[\s\S]*edit_file/);
  expect(screen.emulator.isAlternate).toBe(true);
  screen.type('q');
  expect(await screen.ended).toBe(0);
});

const FOLDED = /^(\d+) rules passed · (\d+) do not apply {3}z lists them$/m;

test('Problems: what passed is one line, which z lists', async () => {
  const path = join(ROOT, 'test/goldens/transcripts/demo-list.ndjson');
  await using screen = openHere(['invoke', '-i', '--open', path], { columns: 120, rows: 36 });
  await screen.shows('Calls 1/1');
  screen.type('5');
  await screen.shows(FOLDED);
  expect(screen.text()).toMatch(/by the requirements of the protocol.*\n✓ no problems\n\n\d+ rules passed/);
  expect(screen.text()).not.toMatch(/RT-|TOOL-/);
  const [, passed = '', absent = ''] = FOLDED.exec(screen.text()) ?? [];
  screen.type('z');
  await screen.shows('Not applicable');
  expect(screen.text()).toContain('TOOL-ACK, TOOL-ASYNC');
  expect(screen.text()).not.toContain('RT-OP');
  screen.type('z');
  await screen.shows(FOLDED);
  expect(Number(passed) + Number(absent)).toBe(REQUIREMENT_IDS.filter(id => id.startsWith('TOOL-')).length);
});

test('the empty screen offers the demo, and the servers that were opened before', async () => {
  await using state = await temporaryFolder();
  await using tool = await startMockHere([await state.write('workshop.json', JSON.stringify(WORKSHOP))]);
  const env = { XDG_STATE_HOME: state.path };
  const cwd = state.path;
  const opened = async (screen: ReturnType<typeof openHere>) => {
    await screen.shows('  rename');
    screen.type('q');
    expect(await screen.ended).toBe(0);
  };
  await using empty = openHere(['invoke', '-i'], { env, cwd });
  await empty.shows('D to open the bundled demo');
  expect(empty.text()).not.toContain('recent');
  empty.type(`u${tool.url}/?key=canary${ENTER}`);
  await opened(empty);
  await using again = openHere(['invoke', '-i'], { env, cwd });
  await again.shows(`Press p to open a recent server:\n  ${tool.url}\n`);
  again.type('p');
  await again.shows(`❯ 0 ${tool.url} (default)`);
  again.type(ENTER);
  await opened(again);
  await using demo = openHere(['invoke', '-i', '--demo'], { env, cwd });
  await demo.shows('❯   edit_file');
  demo.type('q');
  expect(await demo.ended).toBe(0);
  const file = state.file('protocol-cli/recent.json');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual([tool.url]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});
