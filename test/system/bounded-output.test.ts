import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { streamTranscript } from '../../src/events/transcript-writer.js';
import { BoundedOutput, outputOf } from '../../src/system/streams.js';
import { createRedactor } from '../../src/util/redact.js';

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

test('writes texts in order, the first one immediately', async () => {
  const { stream, taken, takeAll } = slowReader();
  const output = new BoundedOutput(stream);
  output.write('a');
  output.news(() => [
    'b',
    {
      length: 2,
      *[Symbol.iterator]() {
        yield* 'cd';
      },
    },
  ]);
  output.write('');
  expect(taken).toEqual(['a']);
  await takeAll();
  await output.written();
  expect(taken).toEqual(['a', 'bcd']);
});

test('row 30: drops and counts texts that would fill the memory, but never the end', async () => {
  const { stream, taken, takeAll } = slowReader();
  const output = new BoundedOutput(stream, 5);
  const reportLoss = (count: number) => [`(${count} lost)`];
  const made: string[] = [];
  const tell = (...texts: string[]) => {
    for (const text of texts)
      output.news(() => {
        made.push(text);
        return [text];
      }, reportLoss);
  };
  tell('one', 'two', 'three', 'four');
  output.write('still');
  tell('five');
  expect(made).toEqual(['one', 'two']);
  await takeAll();
  tell('six');
  output.write('end');
  await takeAll();
  await output.written();
  expect(taken.join(' ')).toBe('one two (2 lost)still (1 lost)six end');
  tell('a long one', 'seven', 'eight', 'nine');
  const isWritten = output.written();
  await takeAll();
  await isWritten;
  expect(taken.at(-1)).toBe('(3 lost)');
});

test('written() does not wait for texts that were added later', async () => {
  const { stream, taken, takeAll } = slowReader();
  const output = new BoundedOutput(stream);
  output.write('one');
  output.write('two');
  const isWritten = output.written().then(() => taken.length);
  output.write('three');
  const more = setInterval(() => output.write('more'), 0);
  await takeAll();
  await isWritten;
  clearInterval(more);
  await takeAll();
  expect(taken.slice(0, 2)).toEqual(['one', 'two']);
});

test('row 30: a source that can wait does so while much is waiting', async () => {
  const { stream, taken, takeAll } = slowReader();
  const output = new BoundedOutput(stream);
  await output.take('x'.repeat(60_000));
  let isTaken = false;
  const text = output.take('y'.repeat(60_000)).then(() => {
    isTaken = true;
  });
  await new Promise(setImmediate);
  expect(isTaken).toBe(false);
  await takeAll();
  await text;
  expect(taken.join('')).toHaveLength(120_000);
});

test('a source does not wait for an output that is broken', async () => {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error('broken')) });
  await new BoundedOutput(stream).take('x'.repeat(100_000));
});

test('a stream has one output, so that its writers keep their order', () => {
  const { stream } = slowReader();
  expect(outputOf(stream)).toBe(outputOf(stream));
  expect(outputOf(stream)).not.toBe(outputOf(slowReader().stream));
});

test('row 30: a long text is made as the reader takes it', async () => {
  const { stream, takeAll } = slowReader();
  const output = new BoundedOutput(stream);
  let made = 0;
  function* pieces() {
    for (; made < 100; made++) yield 'x'.repeat(64 * 1024);
  }
  output.write({ length: 100, [Symbol.iterator]: pieces });
  expect(made).toBeLessThan(3);
  await takeAll();
  await output.written();
  expect(made).toBe(100);
});

test('a full disk: written() rejects, even after further writes', async () => {
  const stream = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('no space'), { code: 'ENOSPC' })),
  });
  const output = new BoundedOutput(stream);
  const errors: unknown[] = [];
  output.onError(error => errors.push(error));
  output.write('a');
  await new Promise(setImmediate);
  output.write('b');
  output.news(() => expect.unreachable('made after the failure'));
  await expect(output.written()).rejects.toMatchObject({ code: 'unwritable-file' });
  expect(errors).toHaveLength(1);
});

test('takes any number of texts', async () => {
  const { stream, taken, takeAll } = slowReader();
  const output = new BoundedOutput(stream);
  output.news(() => Array(200_000).fill('x'));
  await takeAll();
  await output.written();
  expect(taken.join('')).toHaveLength(200_000);
});

test('the end of a transcript comes after the number of the last dropped events', async () => {
  const { stream, taken, takeAll } = slowReader();
  const output = new BoundedOutput(stream, 200);
  const about = { startedAt: '2026-01-01T00:00:00.000Z', observer: 'runtime', program: 'p' } as const;
  const transcript = streamTranscript(output, createRedactor(), about);
  for (let seq = 0; seq < 20; seq++)
    transcript.event({ kind: 'warned', message: 'x'.repeat(300), seq, at: seq });
  transcript.end('done');
  await takeAll();
  await output.written();
  const kinds = taken
    .join('')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line).kind);
  expect(kinds).toEqual(['header', 'dropped', 'end']);
});
