import { expect, test } from 'vitest';
import { draftOf } from '../../src/json-schema/draft-04.js';

test.each([
  [undefined, '2020-12'],
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['https://json-schema.org/draft/2019-09/schema#', '2019-09'],
  ['http://json-schema.org/draft-07/schema#', 'draft-07'],
  ['https://json-schema.org/draft-07/schema', 'draft-07'],
  ['http://json-schema.org/draft-06/schema', 'draft-06'],
  ['http://json-schema.org/draft-04/schema#', 'draft-04'],
  ['http://json-schema.org/schema#', null],
  ['constructor', null],
  ['__proto__', null],
  [7, null],
  [null, null],
])('$schema %j is %j', ($schema, draft) => {
  expect(draftOf($schema === undefined ? {} : { $schema })).toBe(draft);
});
