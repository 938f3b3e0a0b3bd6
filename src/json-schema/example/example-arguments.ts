import { isRecord } from '../../text/is-record.js';
import { valueChecker } from '../check-value.js';
import { exampleOf } from './example.js';
import { roomFor, type Schema } from './resolved.js';

/** A `pattern` cannot be turned round; these pass the usual ones. */
const WORDS = [
  'example',
  'a',
  '1',
  'A',
  'abc',
  'ABC',
  'A1',
  'a1',
  'example-1',
  '10',
  '1.0.0',
  '2025-01-01',
  '12:00',
  '/tmp/example',
  'example.txt',
  'https://example.com/',
  'someone@example.com',
  '+10000000000',
  '00000000-0000-4000-8000-000000000000',
  '#000000',
  '0123456789abcdef',
];

export type ExampleArguments =
  | { readonly ok: true; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly reason: string };

/**
 * Arguments that are valid against an `inputSchema`, or why none could be made. Never throws.
 * @param isOver whether no more time is left: a schema may be costly to validate against (threats, row 22)
 */
export async function exampleArguments(schema: Schema, isOver = () => false): Promise<ExampleArguments> {
  const check = await valueChecker(schema);
  let reason = 'its inputSchema describes no object';
  for (const word of WORDS) {
    if (isOver()) break;
    const room = roomFor();
    const value = exampleOf({ type: 'object', ...schema }, { word, room });
    if (room.left <= 0) return { ok: false, reason: 'it demands too many values' };
    const checked = check(value);
    if (checked.kind === 'unusable') return { ok: false, reason: checked.reason };
    if (checked.kind === 'valid' && isRecord(value)) return { ok: true, arguments: value };
    if (checked.kind === 'invalid')
      reason = checked.faults.map(fault => `${fault.path}: ${fault.message}`).join('; ');
  }
  return { ok: false, reason };
}
