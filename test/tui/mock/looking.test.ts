import { expect, test } from 'vitest';
import { MockView } from '../../../src/tui/mock/screen.js';
import { fakeClock } from '../../support/fake-clock.js';
import { CALLBACK_URL, delivered, MockStory, TOKEN } from '../../support/mock-story.js';
import { drawn } from '../drawn.js';
import { press } from '../workbench/form/support/pressing.js';

/** A session of a story, and what is asked of the mock. */
function openSession(story: MockStory) {
  const asked: string[] = [];
  const note = (what: string) => void asked.push(what);
  let isChanged = () => {};
  const changed = new Promise<void>(resolve => {
    isChanged = resolve;
  });
  const session = new MockView(
    {
      tool: { url: 'http://127.0.0.1:4711', seed: '7f3a', name: 'demo', fixtures: 4 },
      controls: {
        pause: () => note('pause'),
        resume: () => note('resume'),
        redeliver: key => asked.push(`redeliver ${key}`) > 0,
        fire: id => asked.push(`fire ${id}`),
        reload: () => note('reload'),
        quit: () => note('quit'),
      },
      supports: new Set(['text', 'diff']),
      clock: fakeClock(),
      level: 0,
    },
    () => isChanged(),
  );
  for (const event of story.events) session.event(event);
  story.log.subscribe(event => session.event(event));
  const sees = (rows = 24) => drawn(session, { columns: 120, rows }).join('\n');
  const type = (...names: readonly string[]) => {
    for (const name of names) session.press(press(name));
  };
  /** What is read in a tab. */
  const reads = (tab: string) => {
    type(tab);
    return sees(80);
  };
  return { asked, changed, sees, press: type, reads };
}

const MOST = 2_000;

test('if the selected call was dropped, the screen says so, and keys change no other call', () => {
  const story = new MockStory().receives('call_first').receives('call_second');
  const session = openSession(story);
  session.press('g', 'r');
  expect(session.asked).toEqual(['redeliver call_first']);
  for (let at = 0; at < MOST; at++) story.receives(`call_${at}`);
  expect(session.sees()).toContain('The selected call is no longer remembered');
  session.press('r', 'f');
  expect(session.asked).toEqual(['redeliver call_first']);
  session.press('G', 'r');
  expect(session.asked.at(-1)).toBe(`redeliver call_${MOST - 1}`);
  expect(session.sees()).not.toContain('no longer remembered');
});

test('a paste into a search is reported, and runs no keys', () => {
  const session = openSession(new MockStory().receives('call_first'));
  session.press('/', 'first\nq');
  expect(session.asked).toEqual([]);
  expect(session.sees()).toContain('Ignored, because it was pasted after the end of the line: q');
});

test('a result shows what was sent, and whether the runtime accepted it', () => {
  const story = new MockStory();
  const { reads } = openSession(story);
  story.receives('a');
  expect(reads('2')).toContain('none was sent yet');
  const sending = story.sends('a', { type: 'tool_result', text: 'done' });
  expect(reads('2')).toMatch(/HUMAN .* · being sent/);
  sending.answered(20, 500);
  expect(reads('2')).toMatch(/HUMAN .* · not accepted b/);
  story.receives('b').sends('b', { type: 'tool_result', text: 7 });
  expect(reads('2')).toMatch(/a runtime rejects this result:\n.*text/);
});

test('RT-VIEW: shows the latest accepted view of each type, until it is cleared', () => {
  const view = (content: object) => ({ type: 'view_update', view_type: 'diff', content });
  const patch = (added: string) => ({ patch: `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+${added}\n` });
  const story = new MockStory();
  const { reads } = openSession(story);
  story.receives('a');
  expect(reads('5')).toContain('this call shows no views');
  story.sends('a', view(patch('first'))).answered(10);
  story.sends('a', view(patch('second'))).answered(20);
  story.sends('a', view(patch('third'))).answered(30, 500);
  expect(reads('5')).toMatch(/VIEW .*diff, updated 2 times/);
  expect(reads('5')).toContain('second');
  expect(reads('5')).not.toMatch(/first|third/);
  story.sends('a', view({})).answered(40);
  expect(reads('5')).toContain('this call shows no views');
});

test('threats, row 25: no tab shows the secrets of callback URLs', () => {
  const story = new MockStory();
  const { reads, press: type } = openSession(story);
  delivered(story, 'a');
  story
    .receives('b')
    .sends('b', { type: 'view_update', view_type: 'diff', content: { see: CALLBACK_URL } })
    .answered(10);
  story.sends('b', { type: 'tool_result', text: `see ${CALLBACK_URL}` });
  type('b');
  for (const tab of ['1', '2', '3', '4', '5']) expect(reads(tab)).not.toContain(TOKEN);
  expect(reads('4')).toContain('> POST /invoke');
});

test("the problems are the runtime's", async () => {
  const story = new MockStory();
  const { reads, changed } = openSession(story);
  story.receives('a', { callback_url: 'nowhere' }).misses('a');
  expect(reads('6')).toContain('judging …');
  await changed;
  const text = reads('6');
  expect(text).toContain('✗ RT-FIELDS');
  expect(text).not.toContain('TOOL-');
  expect(text).toContain('no fixture matches this call');
});
