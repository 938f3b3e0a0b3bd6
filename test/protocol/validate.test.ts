import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { validate } from '../../src/protocol/validate.js';

test('error texts do not depend on the locale that a library user gave zod', () => {
  const before = z.config().localeError;
  z.config({ localeError: () => 'ungültig' });
  try {
    const reading = validate(z.object({ text: z.string() }), { text: 7 });
    expect(reading).toEqual({ ok: false, faults: ['$.text: must be a string'] });
  } finally {
    z.config({ localeError: before });
  }
});
