import { Writable } from 'node:stream';

/** A stream that has one user. */
export interface ReservedStream {
  /** Writes to the reserved stream. */
  readonly stream: Writable;
  /** Lets all others write to it again. */
  release(): void;
}

/** Reserves a stream for one use: all other writes to it, such as `console.log` in user code, go to `instead`. */
export function reserveStream(taken: NodeJS.WritableStream, instead: NodeJS.WritableStream): ReservedStream {
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
