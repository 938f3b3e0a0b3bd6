import { acknowledged, answered, at, call, eventsOf, resultArrives } from '../../../exchange/build.js';
import type { Samples } from '../sample.js';

export const ackSamples: Samples = [
  {
    story: 'a 200 before the result',
    events: eventsOf(call(), at(3, acknowledged()), at(900, resultArrives())),
    status: 'pass',
  },
  {
    story: 'a 200 after the result',
    events: eventsOf(call(), at(10, resultArrives()), at(300, acknowledged())),
    status: 'fail',
    says: /after the result/,
  },
  {
    story: 'a 200 that takes its time',
    events: eventsOf(call(), at(400, acknowledged()), at(900, resultArrives())),
    status: 'warn',
    says: /400/,
  },
  {
    story: 'a 200 after more than a second',
    events: eventsOf(call(), at(1_200, acknowledged())),
    status: 'fail',
    says: /1\.2/,
  },
  { story: 'a 201', events: eventsOf(call(), answered(201)), status: 'fail', says: /201/ },
];
