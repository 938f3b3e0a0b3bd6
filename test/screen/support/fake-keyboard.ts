import { PassThrough } from 'node:stream';

/** As much of a terminal's stdin as Ink looks at, and whether it is in raw mode. */
export interface FakeKeyboard {
  readonly stream: NodeJS.ReadStream;
  readonly isRaw: () => boolean;
  type(keys: string): void;
}

/** `onRaw` runs before raw mode begins or ends. */
export function fakeKeyboard(onRaw = () => {}): FakeKeyboard {
  let isRaw = false;
  const keys = new PassThrough();
  const stream = Object.assign(keys, {
    isTTY: true,
    setRawMode(raw: boolean) {
      onRaw();
      isRaw = raw;
    },
    ref() {},
    unref() {},
  });
  return {
    stream: stream as unknown as NodeJS.ReadStream,
    isRaw: () => isRaw,
    type: text => void keys.write(text),
  };
}
