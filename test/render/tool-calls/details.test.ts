import { describe, expect, test } from 'vitest';
import { detailLines } from '../../../src/render/tool-calls.js';
import { CALLBACK_URL, MockStory, TOKEN } from '../../support/mock-story.js';
import { words } from '../../support/words.js';

const textOf = (story: MockStory) => detailLines(story.call('a')).map(words).join('\n');

describe('what a call waits for, and how to give it', () => {
  test('consent: the URL of its page stands on a row of its own', () => {
    const url = 'http://127.0.0.1:3001/authorize?state=abc';
    const story = new MockStory().receives('a');
    story.sends('a', { type: 'oauth', auth_url: url }).answered(1);
    expect(textOf(story)).toContain(`waits     for consent: press f to grant it, or decide at\n${url}\n`);
  });

  test('a choice: the default, and what the runtime posts where', () => {
    const story = new MockStory().receives('a');
    const response_url = 'http://127.0.0.1:3001/choices/answer-0123456789abcdef';
    story.sends('a', { type: 'user_choice', choices: ['Yes', 'No'], default: 1, response_url }).answered(1);
    expect(textOf(story)).toContain(
      `waits     for a choice: press f for No
          or the runtime posts, such as {"id":"a","selected":1}
          to its response_url, http://127.0.0.1:3001/…\n`,
    );
  });
});

describe('threats, row 25: anyone who has a callback URL can speak into a conversation', () => {
  test('the token of a callback URL is nowhere, nor that of a response URL; a consent page can be visited', () => {
    const [answer, consent] = [
      'answer-0123456789abcdef',
      'http://127.0.0.1:1/authorize?state=page-0123456789',
    ];
    const story = new MockStory().receives('a', { arguments: { echo: CALLBACK_URL } });
    story.about('a', { kind: 'warned', message: `not posted to ${CALLBACK_URL}` });
    story.sends('a', { type: 'user_choice', response_url: `http://127.0.0.1:1/choices/${answer}` });
    story.sends('a', { type: 'tool_result', text: `${answer} ${TOKEN}` });
    story.sends('a', { type: 'oauth', auth_url: consent });
    story.about('a', { kind: 'dropped', what: 'callback', why: `${CALLBACK_URL} is gone`, count: 1 });
    const text = textOf(story);
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain(answer);
    expect(text).toContain(consent);
  });

  test('an id that the URL repeats is not a secret', () => {
    const id = 'call_0123456789abcdef';
    const story = new MockStory().receives(id, { callback_url: `http://127.0.0.1:1/${id}` });
    story.sends(id, { type: 'tool_result', text: 'x' });
    expect(detailLines(story.call(id)).map(words)).toContain(`  "id": "${id}",`);
  });
});

test('threats, row 24: foreign text acts on nothing', () => {
  const hostile = '\u001b]52;c;x\u0007\u202e';
  const story = new MockStory().receives('a', {
    operation: hostile,
    arguments: { [hostile]: hostile },
    call_id: hostile,
  });
  story.sends('a', hostile);
  for (const character of hostile.match(/\P{ASCII}|\p{Cc}/gu) ?? [])
    expect(textOf(story)).not.toContain(character);
  expect(textOf(story)).toContain('␛]52;c;x␇<U+202E>');
});

test('a message of ten thousand lines is cut, and says so', () => {
  const story = new MockStory().receives('a', {
    arguments: { list: Array.from({ length: 10_000 }, () => 1) },
  });
  const lines = detailLines(story.call('a')).map(words);
  expect(lines.length).toBeLessThan(600);
  expect(lines.at(-1)).toBe('… 9504 more lines');
});
