import { expect, test } from 'vitest';
import { Names } from '../../../src/mock/middleware/redact.js';

test('each name is given once, and none that the object has', () => {
  const names = new Names({ a: 0, 'b 2': 0 });
  expect(['a', 'a', 'b', 'b', 'b'].map(name => names.take(name))).toEqual(['a 2', 'a 3', 'b', 'b 3', 'b 4']);
});
