import type { FileHandle } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { AppendWriter } from '../../src/system/append-writer.js';

/** A file that can be full: then half of what is to be written is, and the call fails. */
class FakeFile {
  isFull = false;
  /** Takes only half of what it is given, which is allowed. */
  isShort = false;
  text = '';
  writes = 0;

  async write(bytes: Uint8Array, offset: number, length: number, position: number) {
    this.writes++;
    const bytesWritten = this.isFull || this.isShort ? Math.ceil(length / 2) : length;
    const part = Buffer.from(bytes.subarray(offset, offset + bytesWritten)).toString();
    this.text = this.text.slice(0, position) + part + this.text.slice(position + part.length);
    if (this.isFull) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    return { bytesWritten };
  }
}

function writerTo(file: FakeFile): AppendWriter {
  return new AppendWriter({ path: 'j', file: file as unknown as FileHandle, position: 0 });
}

describe('writes text in groups', () => {
  it('everything added during one write is written by the next one', async () => {
    const file = new FakeFile();
    const writer = writerTo(file);
    for (const text of ['a', 'b', 'c', 'd']) writer.add(text);
    await writer.written();
    expect(file).toMatchObject({ text: 'abcd', writes: 1 });
  });

  it('continues after a short write', async () => {
    const file = new FakeFile();
    file.isShort = true;
    const writer = writerTo(file);
    writer.add('abcd');
    await writer.written();
    expect(file.text).toBe('abcd');
  });

  it('after space is freed, continues where it stopped, with nothing missing or torn', async () => {
    const file = new FakeFile();
    const writer = writerTo(file);
    for (const text of ['one ', 'two ', 'three ', 'four']) {
      file.isFull = text === 'two ' || text === 'three ';
      writer.add(text);
      await writer.written().catch(() => {});
    }
    await writer.written();
    expect(file.text).toBe('one two three four');
    expect(writer.failure?.message).toBe('cannot write j: no space left on device');
  });

  it('row 15: buffers up to a limit, then keeps nothing more', async () => {
    const file = new FakeFile();
    file.isFull = true;
    const writer = writerTo(file);
    const large = 'x'.repeat(33 * 1024 * 1024);
    writer.add(large);
    await writer.written().catch(() => {}); // from here on it knows that the disk fails
    writer.add(large);
    writer.add('one more');
    await writer.written().catch(() => {});
    file.isFull = false;
    const { writes } = file;
    await expect(writer.written()).rejects.toThrow('too much could not be written');
    expect(file.writes).toBe(writes);
  });
});
