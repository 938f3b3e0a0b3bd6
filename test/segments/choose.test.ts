import { describe, expect, test } from 'vitest';
import { chooseSegment, knownTypes } from '../../src/segments/segments.js';

const SEED_PATCH =
  '--- src/main.rs\n+++ src/main.rs\n@@ -1,3 +1,4 @@\n fn main() {\n+ println!("hello");\n }';
const PATCH = '--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n';
const text = (content: unknown) => ({ type: 'text', content });
const diff = (patch: string, path = 'x') => ({ type: 'diff', content: { path, patch } });
const image = { type: 'image', content: { data: 'aGk=', mediaType: 'image/png' } };

describe('the chosen segment', () => {
  test("draws the seed's diff and corrects its counts", () => {
    const choice = chooseSegment(
      [diff(SEED_PATCH, 'src/main.rs'), text('edit_file src/main.rs — 1 insertion')],
      knownTypes,
    );
    expect(choice).toMatchObject({
      chosen: {
        index: 0,
        type: 'diff',
        reason: 'the first segment',
        drawing: {
          kind: 'diff',
          path: 'src/main.rs',
          raw: SEED_PATCH,
          diff: { files: [{ added: 1, removed: 0 }] },
        },
      },
      skipped: [],
      warnings: [
        {
          id: 'TOOL-DIFF',
          message: 'display_as[0]: wrong line counts (corrected): hunk 1: says −3 +4 lines, has −2 +3',
        },
      ],
    });
  });

  test('follows the order only; a text before a diff hides the diff', () => {
    const choice = chooseSegment([text('one'), diff(PATCH), text('two')], knownTypes);
    expect(choice.chosen).toEqual({
      index: 0,
      type: 'text',
      drawing: { kind: 'text', text: 'one' },
      reason: 'the first segment',
    });
    expect(choice.warnings).toEqual([{ message: expect.stringContaining('the diff is never shown') }]);
  });

  test('--supports image: a client that draws images gets the image', () => {
    const choice = chooseSegment([image, text('fallback')], new Set(['image', 'text']));
    expect(choice.chosen).toMatchObject({
      index: 0,
      drawing: { kind: 'text', text: '[image: image/png, 2 bytes]' },
    });
    const weak = chooseSegment([image], new Set(['text']));
    expect(weak.skipped[0]?.reason).toBe('a terminal cannot show images');
  });

  test.each([
    [{ type: 'hologram' }, 'the type "hologram" is not supported'],
    [{ type: 'holo\u202Egram' }, 'the type "holo<U+202E>gram" is not supported'],
    [{ type: '__proto__' }, 'the type "__proto__" is not supported'],
    [image, 'a terminal cannot show images'],
    [{ type: 'image', content: 7 }, 'malformed image: $: must be an object'],
    [text(null), 'malformed text: $: must be a string'],
    [{ type: 'diff', content: { path: 'x' } }, 'malformed diff: $.patch: is required'],
    [diff('nothing'), 'malformed diff: line 1: "nothing" is not part of a unified diff'],
  ])('skips %j', (segment, reason) => {
    const choice = chooseSegment([segment, text('fallback')], knownTypes);
    expect(choice.skipped).toEqual([{ index: 0, type: segment.type, reason }]);
    expect(choice.chosen?.index).toBe(1);
  });

  test.each([
    [undefined, 'no display_as'],
    [[], 'display_as is empty'],
    [[image], 'no segment of display_as can be shown'],
  ])('chooses no segment: %j', (segments, reason) => {
    expect(chooseSegment(segments, knownTypes)).toMatchObject({ chosen: null, reason });
  });

  test('rejects an unknown type even if the client claims to support it', () => {
    const choice = chooseSegment([{ type: 'hologram' }], new Set(['hologram']));
    expect(choice.skipped[0]?.reason).toBe('the type "hologram" is not supported');
  });
});

describe('warnings for the author', () => {
  const warnings = (...segments: { type: string; content?: unknown }[]) =>
    chooseSegment(segments, knownTypes).warnings;

  test('warns of a malformed patch, even in a segment that is not reached', () => {
    expect(warnings(text('a'), diff('nothing'), text('b'))[0]).toEqual({
      id: 'TOOL-DIFF',
      message: 'display_as[1]: malformed diff: line 1: "nothing" is not part of a unified diff',
    });
  });

  test.each([
    [text(7), 'display_as[0]: malformed text: $: must be a string'],
    [{ type: 'text' }, 'display_as[0]: malformed text: $: is required'],
    [
      { type: 'image', content: { data: 'aGk=', media_type: 'image/png' } },
      'display_as[0]: malformed image: $.mediaType: is required',
    ],
  ])('warns of malformed content: %j', (segment, message) => {
    expect(warnings(segment, text('a'))).toEqual([{ id: 'TOOL-POST', message }]);
  });

  test('does not warn of the content of an unknown type', () => {
    expect(warnings({ type: 'table', content: 7 }, text('a'))).toEqual([]);
  });

  test.each([
    [diff(PATCH), 'display_as should end with a one-line "text"; its last is "diff"'],
    [text('a\nb'), 'display_as should end with a one-line "text"; its last has several lines'],
    [text(' '), 'display_as should end with a one-line "text"; its last is empty'],
    [text('a'.repeat(501)), 'display_as should end with a one-line "text"; its last has 501 characters'],
  ])('warns of a missing fallback: %j', (last, message) => {
    expect(warnings(last)).toEqual([{ id: 'TOOL-FALLBACK', message }]);
  });

  test.each([
    ['done', [text(' done ')], true],
    ['done', [text('done'), text('done')], true],
    ['done', [text('finished')], false],
    ['done', [diff(PATCH), text('done')], false],
    ['x'.repeat(120), [text('x'.repeat(120))], true],
    ['x'.repeat(121), [text('x'.repeat(121))], false],
    ['', [text('')], false],
  ])('warns of segments that only repeat a short text: %j, %j: %s', (llmText, segments, isWarned) => {
    const message = 'display_as only repeats the text, which is one short line';
    const { warnings } = chooseSegment(segments, knownTypes, llmText);
    expect(warnings.filter(warning => warning.message === message)).toHaveLength(isWarned ? 1 : 0);
  });
});
