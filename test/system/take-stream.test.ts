import { Console } from 'node:console';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { takeStream } from '../../src/system/streams.js';

const read = (stream: PassThrough) => String(stream.read() ?? '');

test('a stream that is taken is written by its taker alone; all else goes elsewhere, until it is given back', async () => {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const { stream, release } = takeStream(stdout, stderr);
  await new Promise(resolve => stream.write('wire\n', resolve));
  stdout.write('stray\n');
  new Console(stdout).log('log');
  expect([read(stdout), read(stderr)]).toEqual(['wire\n', 'stray\nlog\n']);
  release();
  stdout.write('free\n');
  expect([read(stdout), read(stderr)]).toEqual(['free\n', '']);
});

test('one that fails says so to its taker', async () => {
  const stdout = new PassThrough();
  stdout.on('error', () => {});
  const { stream } = takeStream(stdout, new PassThrough());
  stdout.destroy();
  const failure = new Promise(resolve => stream.once('error', resolve));
  stream.write('x');
  expect(await failure).toBeInstanceOf(Error);
});
