import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ignoreClosedPipes, isClosed, writeOut } from '../../src/system/streams.js';
import { bundled } from '../support/own-program.js';

const MiB = 1024 * 1024;

/** Keeps what it is given, one piece at a time. */
class Slow extends Writable {
  readonly pieces: Buffer[] = [];
  mostUnderWay = 0;

  override _write(piece: Buffer, _: BufferEncoding, done: () => void): void {
    this.pieces.push(piece);
    this.mostUnderWay = Math.max(this.mostUnderWay, this.writableLength);
    setImmediate(done);
  }
}

class Failing extends Writable {
  constructor(private readonly code: string) {
    super();
  }

  override _write(_: Buffer, __: BufferEncoding, done: (error: Error) => void): void {
    setImmediate(() => done(Object.assign(new Error(this.code), { code: this.code })));
  }
}

describe('writing', () => {
  it('row 30: passes one piece at a time to the reader', async () => {
    const slow = new Slow();
    await writeOut(slow, 'x'.repeat(MiB));
    expect(Buffer.concat(slow.pieces)).toHaveLength(MiB);
    expect(slow.mostUnderWay).toBeLessThanOrEqual(64 * 1024);
  });

  it('adds no listener for each of many texts: Node would warn of a leak', async () => {
    const slow = new Slow();
    const writing = Array.from({ length: 20 }, () => writeOut(slow, 'x'));
    expect(slow.listenerCount('error')).toBe(1);
    await Promise.all(writing);
    expect(Buffer.concat(slow.pieces)).toHaveLength(20);
  });

  it('splits bytes without copying them', async () => {
    const slow = new Slow();
    const bytes = new Uint8Array(MiB).map((_, index) => index % 251);
    await writeOut(slow, bytes);
    expect(Buffer.concat(slow.pieces).equals(bytes)).toBe(true);
  });

  it('splits no surrogate pair at any position', async () => {
    for (const before of [-4, -3, -2, -1, 0, 1]) {
      const slow = new Slow();
      const text = `${'x'.repeat(64 * 1024 + before)}😀😀\ud83d`;
      await writeOut(slow, text);
      expect(Buffer.concat(slow.pieces).toString()).toBe(text.toWellFormed());
    }
  });

  it('row 30: ends without an error if the reader has closed the stream, and writes no more', async () => {
    const gone = new Failing('EPIPE');
    await writeOut(gone, 'x'.repeat(MiB));
    expect(isClosed(gone)).toBe(true);
    await writeOut(gone, 'more');
  });

  it('throws all other errors', async () => {
    const full = new Failing('ENOSPC');
    await expect(writeOut(full, 'x')).rejects.toMatchObject({ code: 'unwritable-file' });
    expect(isClosed(full)).toBe(false);
  });

  it('writes nothing for an empty text', async () => {
    const slow = new Slow();
    await writeOut(slow, '');
    expect(slow.pieces).toEqual([]);
  });

  it('row 30: a process piped into head -1 ends without an error', async () => {
    const program = await bundled(`
      import { isClosed, writeOut } from './src/system/streams.js';
      writeOut(process.stdout, 'line\\n'.repeat(1_000_000)).then(() => console.error(String(isClosed(process.stdout))));`);
    const piped = spawn('sh', ['-c', '"$0" -e "$1" | head -1', process.execPath, program]);
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      piped[name].on('data', bytes => {
        said[name] += bytes;
      });
    }
    await once(piped, 'close');
    expect(said).toEqual({ stdout: 'line\n', stderr: 'true\n' });
  });
});

describe('ignoring closed pipes', () => {
  const error = (code: string) => Object.assign(new Error(code), { code });

  it('row 30: ignores only a closed pipe', () => {
    const [one, other] = [new Slow(), new Slow()];
    ignoreClosedPipes(one, other, one);
    one.emit('error', error('EPIPE'));
    expect([isClosed(one), isClosed(other)]).toEqual([true, false]);
    expect(() => other.emit('error', error('EIO'))).toThrow('cannot write the output: EIO');
    expect(one.listenerCount('error')).toBe(1);
  });

  it('treats a closed terminal window as a closed reader', () => {
    const terminal = Object.assign(new Slow(), { isTTY: true });
    ignoreClosedPipes(terminal);
    terminal.emit('error', error('EIO'));
    expect(isClosed(terminal)).toBe(true);
    const full = Object.assign(new Slow(), { isTTY: true });
    ignoreClosedPipes(full);
    expect(() => full.emit('error', error('ENOSPC'))).toThrow('cannot write the output: ENOSPC');
  });

  it('leaves other errors to other listeners', () => {
    const stream = new Slow();
    const heard: unknown[] = [];
    ignoreClosedPipes(stream);
    stream.on('error', problem => heard.push(problem));
    stream.emit('error', error('EIO'));
    expect(heard).toHaveLength(1);
  });
});
