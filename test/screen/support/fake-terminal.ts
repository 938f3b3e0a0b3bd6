import { Writable } from 'node:stream';
import type { Emulator, Size } from './emulator.js';

export interface FakeTerminal {
  /** As much of a terminal's stdout as Ink looks at. */
  readonly stream: NodeJS.WriteStream;
  resize(size: Size): void;
}

export function fakeTerminal(emulator: Emulator, size: Size): FakeTerminal {
  const stream = new Writable({
    decodeStrings: false,
    write(data: string | Uint8Array, _, done) {
      // What a terminal's driver does on the way: a line feed returns the carriage too.
      void emulator.write(String(data).replaceAll('\n', '\r\n')).then(() => done());
    },
  });
  const terminal = Object.assign(stream, {
    isTTY: true,
    columns: size.columns,
    rows: Number.MAX_SAFE_INTEGER,
  });
  return {
    stream: terminal as unknown as NodeJS.WriteStream,
    resize({ columns }) {
      terminal.columns = columns;
      terminal.emit('resize');
    },
  };
}
