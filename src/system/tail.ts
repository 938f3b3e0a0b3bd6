import type { Readable } from 'node:stream';

const KEPT_CHARACTERS = 4_096;
const SHOWN_LINES = 10;

/** Reads a stream as text, passes it on as it comes, and keeps its last lines. Returns how to get those. */
export function keepTail(stream: Readable, onText?: (text: string) => void): () => string[] {
  let kept = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    kept = (kept + text).slice(-KEPT_CHARACTERS);
    onText?.(text);
  });
  return () => kept.trimEnd().split('\n').slice(-SHOWN_LINES).filter(Boolean);
}
