import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { History } from '../../src/events/history.js';
import { Page } from '../../src/render/outputs/reporter.js';
import { createRedactor } from '../../src/util/redact.js';

const pageOn = (stdout: Writable, max?: number) =>
  new Page(new History(), { stdout, stderr: stdout, quiet: false, redactor: createRedactor() }, max);

/** Takes what is written when it is asked to. */
function slowReader() {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      taken.push(chunk.toString());
      waiting.push(done);
    },
  });
  const takeAll = async () => {
    while (waiting.length > 0) {
      waiting.shift()?.();
      await new Promise(setImmediate);
    }
  };
  return { stream, taken, takeAll };
}

test('writes texts in order', async () => {
  const { stream, taken, takeAll } = slowReader();
  const page = pageOn(stream);
  page.write('a');
  page.news(() => 'b');
  page.write('');
  expect(taken).toEqual(['a']);
  await takeAll();
  await page.written();
  expect(taken).toEqual(['a', 'b']);
});

test('row 30: drops and counts events that would fill the memory, but never other texts', async () => {
  const { stream, taken, takeAll } = slowReader();
  const page = pageOn(stream, 3);
  page.lostText = count => `(${count} lost)`;
  const made: string[] = [];
  for (const news of ['one', 'two', 'three'])
    page.news(() => {
      made.push(news);
      return news;
    });
  page.write('end');
  expect(made).toEqual(['one', 'two']);
  await takeAll();
  await page.written();
  expect(taken).toEqual(['one', 'two', '(1 lost)end']);
});

test('a full disk: written() rejects, even after further writes', async () => {
  const stream = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('no space'), { code: 'ENOSPC' })),
  });
  const page = pageOn(stream);
  page.write('a');
  await new Promise(setImmediate);
  page.write('b');
  await expect(page.written()).rejects.toMatchObject({ code: 'unwritable-file' });
});
