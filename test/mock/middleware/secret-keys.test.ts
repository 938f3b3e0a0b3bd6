import { expect, test } from 'vitest';
import { secretKeys } from '../../../src/mock/middleware/middleware.js';

test.each(['api_key', 'apiKey', 'api-key', 'API_KEY', 'ApiKey', 'api key', 'api.key', 'api\u200b\u0000key'])(
  '%j is api_key',
  key => {
    expect(secretKeys(['api_key'])(key)).toBe(true);
    expect(secretKeys([key])('api_key')).toBe(true);
  },
);

test.each(['key', 'api', 'api_keys', 'my_api_key', '', '_', '__proto__', 'constructor'])('%j is not', key => {
  expect(secretKeys(['api_key', '', '-'])(key)).toBe(false);
});
