import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { draw, PICTURES } from './picture.mjs';

describe.concurrent('the pictures of the README and the guides', () => {
  test.for(PICTURES)('$file shows what the program shows today (else: npm run pictures)', async picture => {
    const [kept, today] = await Promise.all([
      readFile(new URL(picture.file, import.meta.url), 'utf8'),
      draw(picture),
    ]);
    expect(piecesOf(kept).length).toBeGreaterThan(10);
    expect(piecesOf(today)).toEqual(piecesOf(kept));
  });

  test.each(PICTURES)(
    '$file brings nothing with it: no script, no font, no address that is fetched',
    async ({ file }) => {
      const svg = await readFile(new URL(file, import.meta.url), 'utf8');
      expect(svg).not.toMatch(/<script|<image|<foreignObject|href=|url\(|@import|@font-face/i);
    },
  );
});

/** Every piece of text with its row and its look. A slow machine may have more to say below the view. */
function piecesOf(svg: string): readonly object[] {
  const pieces = [
    ...svg.matchAll(
      /<text x="([\d.]+)" y="([\d.]+)"[^>]*?( class="b")?( style="[^"]*")?( xml[^>]*)?>([^<]*)</g,
    ),
  ];
  const seen: { look: string; text: string }[] = [];
  for (const [, , y, bold = '', style = '', , text = ''] of pieces) {
    const look = `${y}${bold}${style}`;
    const before = seen.at(-1);
    // whether blanks part a piece in two depends on the times and ids beside it
    if (before?.look === look) before.text = lasting(`${before.text} ${text}`);
    else seen.push({ look, text: lasting(text) });
  }
  const warned = seen.findIndex(({ text }) => /(?:^| )warning: /.test(text));
  return warned < 0 ? seen : seen.slice(0, warned);
}

/** Times, ports and ids are those of the run, and so is the room that they take, blanks at the end too. */
function lasting(text: string): string {
  return text
    .trim()
    .replaceAll(/(?<=127\.0\.0\.1:)\d+/g, 'PORT')
    .replaceAll(/(?<=\b(?:call_|state=))[\w-]{20,}/g, 'ID')
    .replaceAll(/(?<=\b(?:call|thread)_)[\da-f-]{6,}…?/g, 'ID')
    .replaceAll(/ *\b(?:[\d.]+m?s|\d:\d\d\.\d)\b/g, ' TIME')
    .replaceAll(/ +/g, ' ');
}
