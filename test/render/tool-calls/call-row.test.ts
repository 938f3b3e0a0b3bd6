import { describe, expect, test } from 'vitest';
import { callRow } from '../../../src/render/tool-calls.js';
import { delivered, MockStory } from '../../support/mock-story.js';
import { words } from '../../support/words.js';

const NOW = 5_000;
const RESULT = { type: 'tool_result', text: 'done' };

/** The mark and the state of the call `a` of a story, in words. */
function stateOf(tell: (story: MockStory) => unknown): string {
  const story = new MockStory().at(1_000);
  tell(story);
  const { mark, cells } = callRow(story.call('a'), NOW);
  return `${mark.text} ${words(cells.state).trimEnd()}`;
}

describe('the state of a call', () => {
  test('held, where deliveries are paused', () => {
    const story = new MockStory().at(1_000).receives('a');
    expect(words(callRow(story.call('a'), NOW, false, true).cells.state)).toBe('held');
  });

  test('that no fixture answers is not fine, delivered or not', () => {
    const story = new MockStory().at(1_000).receives('a');
    story.about('a', { kind: 'matched', fixture: null });
    story.about('a', { kind: 'warned', message: 'no fixture answers it' });
    story.sends('a', RESULT).answered(1_200);
    const { mark, cells } = callRow(story.call('a'), NOW);
    expect([mark, cells.state[0]]).toMatchObject([
      { text: '!', tone: 'warn' },
      { text: 'no fixture, ', tone: 'warn' },
    ]);
  });

  test.each<[string, (story: MockStory) => unknown, string]>([
    [
      'to be sent again',
      story => story.receives('a').sends('a', RESULT).answered(1_100, 503),
      '… retrying, answered 503 4s',
    ],
    [
      'given up, and why',
      story => {
        story.receives('a').sends('a', RESULT).answered(1_100, 404);
        story.about('a', { kind: 'dropped', what: 'callback', why: 'it was answered 404', count: 1 });
      },
      '✗ it was answered 404',
    ],
    [
      'asking for a choice, since it was asked',
      story => story.receives('a').at(2_000).sends('a', { type: 'user_choice' }).answered(2_001),
      '? asks for a choice 3s',
    ],
    [
      'silent',
      story => story.receives('a').about('a', { kind: 'planned', by: 'fixture', plan: 'silence' }),
      '• no result (planned)',
    ],
    [
      'with events after its result',
      story => {
        delivered(story, 'a');
        for (const text of ['1', '2']) story.sends('a', { type: 'subscription_event', text }).answered(2_000);
      },
      '✓ delivered after 200ms, 2 events',
    ],
    [
      'delivered, and once more to no one',
      story => {
        delivered(story, 'a');
        const { leg } = story.sends('a', RESULT);
        story.about('a', { kind: 'dropped', what: 'callback', why: 'no one is there', count: 1, leg });
      },
      '! delivered after 200ms, a later one failed',
    ],
    [
      'waiting to be fired, and how',
      story => {
        delivered(story, 'a');
        story.sends('a', { type: 'subscription_event', text: '1' }).answered(2_000);
        story.about('a', { kind: 'planned', by: 'fixture', plan: 'demand' });
      },
      '? waiting: press f to send, 1 event',
    ],
    [
      'cancelled',
      story =>
        story.receives('a').tell({
          kind: 'request',
          leg: 'x',
          from: 'runtime',
          to: 'tool',
          purpose: 'cancel',
          method: 'POST',
          url: '/cancel_tool_call',
          headers: {},
          attempt: 1,
          calls: ['a'],
        }),
      '… canceled 4s',
    ],
  ])('%s', (_, tell, text) => {
    expect(stateOf(tell)).toBe(text);
  });
});

test('threats, row 24: foreign names are made visible, and clipped where no one would read them', () => {
  const story = new MockStory().receives('a', { operation: `\u001b]0;x\u0007${'y'.repeat(9_000)}` });
  const { operation } = callRow(story.call('a'), NOW).cells;
  expect(words(operation)).toMatch(/^␛\]0;x␇y+… 8706 more characters$/);
  expect(operation[0]).toEqual({ text: '␛', tone: 'hidden' });
});
