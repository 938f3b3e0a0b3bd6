import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { validate } from '../../src/protocol/validate.js';

test('the words are ours, whatever language zod was given by anyone who uses the library', () => {
  const before = z.config().localeError;
  z.config({ localeError: () => 'ungültig' });
  try {
    const reading = validate(z.object({ text: z.string() }), { text: 7 });
    expect(reading).toEqual({ ok: false, faults: ['$.text: must be a string'] });
  } finally {
    z.config({ localeError: before });
  }
});
