import { type Probe, withOperation } from '../probe.js';

/** What follows the token in a callback URL: all of it is the runtime's business alone. */
const ENDINGS: readonly string[] = [
  '?thread=a&attempt=1',
  '?token=3f1c&next=%2Fa%3Fb%3Dc&empty=',
  '/',
  '/results/3f1c',
  '/%c3%a9%2fb%20c',
];

/** A callback URL is used exactly as it is given. */
export const callbackUrls: Probe = {
  id: 'callback-urls',
  checks: ['TOOL-OPAQUE'],
  run: withOperation(async (prober, operation) => {
    await Promise.all(ENDINGS.map(ending => prober.call({ ...operation, addressed: url => url + ending })));
  }),
};
