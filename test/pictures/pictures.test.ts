import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { draw, PICTURES } from './picture.mjs';

describe.concurrent('the pictures of the README', () => {
  test.each(PICTURES)('$file shows what the program shows today (else: npm run pictures)', async picture => {
    const [kept, today] = await Promise.all([
      readFile(new URL(picture.file, import.meta.url), 'utf8'),
      draw(picture),
    ]);
    const [then, now] = [piecesOf(kept), piecesOf(today)];
    expect(now.pieces.length).toBeGreaterThan(10);
    expect(now.pieces).toEqual(then.pieces.slice(0, now.pieces.length)); // of a slow machine the end may be missing
  });

  test.each(PICTURES)(
    '$file brings nothing with it: no script, no font, no address that is fetched',
    async ({ file }) => {
      const svg = await readFile(new URL(file, import.meta.url), 'utf8');
      expect(svg).not.toMatch(/<script|<image|<foreignObject|href=|url\(|@import|@font-face/i);
    },
  );
});

/** Every piece of text with its row and its look. A slow machine may have a warning to say, wherever that falls: the rest is no matter. */
function piecesOf(svg: string): { readonly pieces: readonly string[] } {
  const pieces = [
    ...svg.matchAll(
      /<text x="([\d.]+)" y="([\d.]+)"[^>]*?( class="b")?( style="[^"]*")?( xml[^>]*)?>([^<]*)</g,
    ),
  ];
  const seen = pieces.map(
    ([, , y, bold = '', style = '', , text = '']) => `${y}${bold}${style} ${lasting(text)}`,
  );
  const warned = seen.findIndex(piece => piece.includes(' warning: '));
  return { pieces: warned < 0 ? seen : seen.slice(0, warned) };
}

/** Times, ports and ids are those of the run, and so is the room that they take. */
function lasting(text: string): string {
  return text
    .replaceAll(/(?<=127\.0\.0\.1:)\d+/g, 'PORT')
    .replaceAll(/(?<=\b(?:call_|state=))[\w-]{20,}/g, 'ID')
    .replaceAll(/ *\b(?:[\d.]+m?s|\d:\d\d\.\d)\b/g, ' TIME');
}
