import { eventsOf } from '../../../events/build.js';
import { discovery, someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const a = someCall('a');
const unknown = someCall('unknown', { operation: 'no_such_thing' });
const says = (text: string) => [...a.sent(), ...a.answered(), ...a.result({ text })];
const refusedWith = (text: string) => [
  ...discovery(),
  ...unknown.sent(),
  ...unknown.answered(),
  ...unknown.result({ text }),
];

export const errorPrefixSamples: Samples = [
  {
    story: 'an error with something to do',
    events: eventsOf(says('Error: busy, retry in 60 s')),
    status: 'pass',
  },
  {
    story: 'a denial (seed 002)',
    events: eventsOf(refusedWith('{"denied":{"tool":"no_such_thing","reason":"not here"}}')),
    status: 'pass',
  },
  {
    story: 'an unknown operation in words of its own',
    events: eventsOf(refusedWith('unknown operation: no_such_thing')),
    status: 'warn',
    says: /does not start/,
  },
  { story: 'shouting', events: eventsOf(says('ERROR: busy')), status: 'warn' },
  { story: 'an exception', events: eventsOf(says('ValueError: busy')), status: 'warn' },
  { story: 'an error as JSON', events: eventsOf(says('{"error":{"message":"busy"}}')), status: 'warn' },
  {
    story: 'an error that says nothing',
    events: eventsOf(says('Error: ')),
    status: 'warn',
    says: /no message/,
  },
  { story: 'success', events: eventsOf(says('3 errors were mended')), status: 'not-applicable' },
];
