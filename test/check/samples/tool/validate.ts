import { eventsOf } from '../../../events/build.js';
import { discovery, someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const unknown = someCall('unknown', { operation: 'no_such_thing' });
const broken = someCall('broken', { arguments: { path: 7 } });
const other = someCall('other', { operation: 'no_such_thing' });
const sound = someCall('sound');
const valid = () => [...sound.sent(), ...sound.answered(), ...sound.result({ text: 'done as sound' })];

export const validateSamples: Samples = [
  {
    story: 'an error result for each',
    events: eventsOf(
      discovery(),
      unknown.sent(),
      unknown.answered(),
      unknown.result({ text: 'Error: no operation "no_such_thing"; try edit_file.' }),
      broken.sent(),
      broken.answered(),
      broken.result({ text: 'Error: path must be a string.' }),
    ),
    status: 'pass',
  },
  {
    story: 'an error in words of its own',
    events: eventsOf(
      discovery(),
      unknown.sent(),
      unknown.answered(),
      unknown.result({ text: 'unknown operation' }),
    ),
    status: 'pass',
  },
  {
    story: 'an acknowledgement that refuses it',
    events: eventsOf(discovery(), broken.sent(), broken.answered({ status: 400 })),
    status: 'pass',
  },
  {
    story: 'an unknown operation that succeeds',
    events: eventsOf(
      discovery(),
      unknown.sent(),
      unknown.answered(),
      unknown.result({ text: 'did no_such_thing' }),
    ),
    status: 'warn',
    says: /unknown operation may have been executed/,
  },
  {
    story: 'an unknown operation that gives what a valid call does',
    events: eventsOf(
      discovery(),
      valid(),
      other.sent(),
      other.answered(),
      other.result({ text: 'done as other' }),
    ),
    status: 'fail',
    says: /unknown operation was executed/,
  },
  {
    story: 'a refusal in words that nobody knows',
    events: eventsOf(
      discovery(),
      valid(),
      broken.sent(),
      broken.answered(),
      broken.result({ text: 'Expected string, received number' }),
    ),
    status: 'warn',
  },
  {
    story: 'a question about broken arguments, and then an error',
    events: eventsOf(
      discovery(),
      broken.sent(),
      broken.answered(),
      broken.asks(),
      broken.result({ text: 'Error: path must be a string.' }),
    ),
    status: 'warn',
    says: /and then an error/,
  },
  {
    story: 'broken arguments that succeed',
    events: eventsOf(
      discovery(),
      valid(),
      broken.sent(),
      broken.answered(),
      broken.result({ text: 'done as broken' }),
    ),
    status: 'fail',
    says: /do not match its inputSchema was executed/,
  },
  {
    story: 'a question about broken arguments',
    events: eventsOf(discovery(), broken.sent(), broken.answered(), broken.asks()),
    status: 'fail',
    says: /was started: a user_choice/,
  },
  {
    story: 'nothing that must not be executed',
    events: eventsOf(discovery(), sound.sent(), sound.answered(), sound.result()),
    status: 'not-applicable',
  },
  {
    story: 'a toolset that nobody asked for',
    events: eventsOf(unknown.sent(), unknown.answered(), unknown.result()),
    status: 'not-applicable',
  },
];
