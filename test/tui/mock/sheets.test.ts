import { describe, expect, test } from 'vitest';
import { type RecentEventLimits, RecentEvents } from '../../../src/events/bounded-events.js';
import type { SheetLook } from '../../../src/tui/calls/tabs.js';
import type { Tab } from '../../../src/tui/mock/tabs.js';
import { ToolSheets } from '../../../src/tui/mock/tabs.js';
import { CALLBACK_URL, delivered, MockStory, TOKEN } from '../../support/mock-story.js';
import { read } from '../read-sheet.js';

const LOOK: SheetLook = { isSplit: false, isUnfolded: false, showsBytes: false };

/** The sheets of a story, as it goes on. */
function sheetsFor(story: MockStory, limits: Partial<RecentEventLimits> = {}) {
  const events = new RecentEvents(limits);
  let isChanged = () => {};
  const changed = new Promise<void>(resolve => {
    isChanged = resolve;
  });
  story.log.subscribe(event => events.apply(event));
  const sheets = new ToolSheets({
    calls: story.calls,
    events,
    supports: new Set(['diff', 'text']),
    highlighter: () => null,
    onChange: () => isChanged(),
  });
  const sheetOf = (tab: Tab, key = 'a', look: Partial<SheetLook> = {}) =>
    sheets.sheetOf(tab, key, { ...LOOK, ...look });
  const linesOf = (...about: Parameters<typeof sheetOf>) => read(sheetOf(...about)).flat();
  return { sheetOf, linesOf, changed };
}

describe('a call', () => {
  test('is what came and what was answered, and stays the same sheet as long as nothing happens', () => {
    const story = new MockStory();
    const { linesOf, sheetOf } = sheetsFor(story);
    delivered(story, 'a');
    expect(linesOf('call')).toContain('edit_file a (thread_a)');
    expect(linesOf('call')).toContain('  "text": "done"');
    const before = sheetOf('call');
    delivered(story, 'b');
    expect(sheetOf('call')).toBe(before);
  });

  test('that is forgotten has nothing to read', () => {
    expect(sheetsFor(new MockStory()).sheetOf('call')).toEqual({ parts: [] });
  });
});

describe('what the human and the LLM get', () => {
  test('is what was sent, and says whether a runtime took it', () => {
    const story = new MockStory();
    const { linesOf } = sheetsFor(story);
    story.receives('a');
    expect(linesOf('result')).toEqual(['RESULT', 'none was sent yet']);
    const sending = story.sends('a', { type: 'tool_result', text: 'done' });
    expect(linesOf('result')[0]).toMatch(/^HUMAN .* · being sent$/);
    sending.answered(20, 500);
    expect(linesOf('result')[0]).toMatch(/^HUMAN .* · not accepted by the runtime$/);
    story.sends('a', { type: 'tool_result', text: 'done' }, 2).answered(30);
    expect(read(sheetsFor(story).sheetOf('result')).map(part => part.at(-1))).toEqual(['done', 'done']);
    expect(linesOf('result')[0]).not.toContain('·');
  });

  test('is nothing where no runtime would take it, and why', () => {
    const story = new MockStory();
    const { linesOf } = sheetsFor(story);
    story.receives('a').sends('a', { type: 'tool_result', text: 7 });
    expect(linesOf('result').join('\n')).toMatch(/a runtime rejects this result:\n.*text/);
  });
});

describe('the timeline', () => {
  test('grows as the call goes on, and begins anew where something is forgotten', () => {
    const story = new MockStory();
    const { linesOf } = sheetsFor(story, { eventsOfCall: 4 });
    story.receives('a').matches('a', 'one');
    expect(linesOf('timeline')[0]).toBe('TIMELINE 3 events');
    story.about('a', { kind: 'warned', message: 'first' });
    expect(linesOf('timeline').at(-1)).toContain('first');
    story.about('a', { kind: 'warned', message: 'second' });
    expect(linesOf('timeline')[0]).toBe('TIMELINE 3 events, 2 more forgotten');
    expect(linesOf('timeline').join('\n')).not.toContain('first');
  });
});

describe('the views', () => {
  const view = (content: object) => ({ type: 'view_update', view_type: 'diff', content });
  const patch = (added: string) => ({ patch: `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+${added}\n` });

  test('are the latest of each type that the runtime took, until they are cleared', () => {
    const story = new MockStory();
    const { linesOf } = sheetsFor(story);
    story.receives('a');
    expect(linesOf('views')).toEqual(['VIEWS', 'this call shows no views']);
    story.sends('a', view(patch('first'))).answered(10);
    story.sends('a', view(patch('second'))).answered(20);
    story.sends('a', view(patch('third'))).answered(30, 500);
    const shown = linesOf('views').join('\n');
    expect(shown).toMatch(/^VIEW .*diff, updated 2 times/);
    expect(shown).toContain('second');
    expect(shown).not.toMatch(/first|third/);
    story.sends('a', view({})).answered(40);
    expect(linesOf('views').at(-1)).toBe('this call shows no views');
  });
});

test('the wire: what came and what was sent; threats, row 25: without the secrets of callback URLs', () => {
  const story = new MockStory();
  const { linesOf } = sheetsFor(story);
  story
    .receives('a')
    .sends('a', { type: 'view_update', view_type: 'diff', content: { see: CALLBACK_URL } })
    .answered(10);
  story.sends('a', { type: 'tool_result', text: `see ${CALLBACK_URL}` });
  for (const tab of ['call', 'result', 'timeline', 'wire', 'views'] as const) {
    const text = linesOf(tab, 'a', { showsBytes: true }).join('\n');
    expect(text).not.toContain(TOKEN);
    expect(text.length).toBeGreaterThan(40);
  }
  expect(linesOf('wire').join('\n')).toContain('> POST /invoke');
});

test('what went over the wire may be forgotten while the call is not', () => {
  const story = new MockStory();
  const { linesOf } = sheetsFor(story, { calls: 1 });
  for (const id of ['a', 'b']) delivered(story, id);
  expect(linesOf('wire')).toEqual(['FORGOTTEN', 'the messages of this call are no longer remembered']);
  expect(linesOf('result').join('\n')).toContain('done');
});

describe('problems', () => {
  test('are those of the runtime, by its own requirements', async () => {
    const story = new MockStory();
    const { linesOf, changed } = sheetsFor(story);
    story.receives('a', { callback_url: 'nowhere' }).misses('a');
    expect(linesOf('problems')).toEqual(['PROBLEMS by the requirements of the protocol', 'judging …']);
    await changed;
    const text = linesOf('problems').join('\n');
    expect(text).toContain('Failed');
    expect(text).toContain('✗ RT-FIELDS');
    expect(text).not.toContain('TOOL-');
    expect(text).toContain('no fixture matches this call');
  });
});
