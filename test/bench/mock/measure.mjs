import { spread } from '../pairs.mjs';
import { callbacksPerSecond, firstAcknowledgement } from './load.mjs';
import { bare, mock, startServer } from './server-process.mjs';

const LOAD = { calls: 5_000, connections: 64 };
const WARM_UPS = 3;
const ROUNDS = 9;
const STARTS = 15;
const MB = 1e6;

const LEAST_RATE = 0.5;
const LONGEST_START = 2;
const MORE_MB = 40;

/** Ours beside a bare server, in turns of one run: a row for each thing that is measured. */
export async function measureMock() {
  const sides = { bare, mock: mock() };
  const { rates, peaks } = await throughput(sides);
  return [rateRow(rates), await startRow(sides), memoryRow(peaks)];
}

/** The callbacks per second of each side, round by round; and what each took of memory, in bytes. */
async function throughput(sides) {
  const servers = new Map();
  for (const [name, args] of Object.entries(sides)) servers.set(name, await startServer(args));
  const rates = [];
  for (let round = -WARM_UPS; round < ROUNDS; round++) {
    const rate = {};
    for (const [name, { url }] of servers) rate[name] = await callbacksPerSecond(url, LOAD);
    if (round >= 0) rates.push(rate);
  }
  const peaks = {};
  for (const [name, server] of servers) peaks[name] = await server.stop();
  return { rates, peaks };
}

function rateRow(rates) {
  const ratio = spread(rates.map(rate => rate.mock / rate.bare));
  const figures = `${perSecond(rates, 'mock')} : ${perSecond(rates, 'bare')}`;
  const target = `≥ ${LEAST_RATE.toFixed(2)}`;
  return { what: 'callbacks per second', ratio, figures, target, isMet: ratio.median >= LEAST_RATE };
}

/** From the spawn to the first 200. */
async function startRow(sides) {
  const times = { bare: [], mock: [] };
  for (let index = -2; index < STARTS; index++)
    for (const [name, args] of Object.entries(sides)) {
      const start = performance.now();
      const server = await startServer(args);
      const acknowledgedAt = await firstAcknowledgement(server.url);
      if (index >= 0) times[name].push(acknowledgedAt - start);
      await server.stop();
    }
  const ratio = spread(times.mock.map((time, index) => time / times.bare[index]));
  const figures = `${spread(times.mock).median.toFixed(0)} : ${spread(times.bare).median.toFixed(0)} ms`;
  const target = `≤ ${LONGEST_START.toFixed(2)}`;
  return { what: 'start to the first 200', ratio, figures, target, isMet: ratio.median <= LONGEST_START };
}

function memoryRow({ mock, bare }) {
  const figures = `${(mock / MB).toFixed(0)} : ${(bare / MB).toFixed(0)} MB`;
  const target = `≤ + ${MORE_MB} MB`;
  return { what: 'peak memory', figures, target, isMet: mock - bare <= MORE_MB * MB };
}

function perSecond(rates, name) {
  return spread(rates.map(rate => rate[name])).median.toFixed(0);
}
