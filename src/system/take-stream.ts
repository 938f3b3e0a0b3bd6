import { Writable } from 'node:stream';

export interface TakenStream {
  /** Writes to the stream that was taken, for whoever took it. */
  readonly stream: Writable;
  readonly release: () => void;
}

/**
 * Takes a stream for one use alone: what anybody else writes to it from now on, such as `console.log` in code that is not ours, goes
 * to `instead`.
 */
export function takeStream(taken: NodeJS.WritableStream, instead: NodeJS.WritableStream): TakenStream {
  const own = Object.getOwnPropertyDescriptor(taken, 'write');
  const write = taken.write.bind(taken);
  Object.defineProperty(taken, 'write', {
    configurable: true,
    writable: true,
    value: instead.write.bind(instead),
  });
  return {
    stream: new Writable({ write: (chunk: Uint8Array, _, done) => void write(chunk, done) }),
    release() {
      if (own) Object.defineProperty(taken, 'write', own);
      else Reflect.deleteProperty(taken, 'write');
    },
  };
}
