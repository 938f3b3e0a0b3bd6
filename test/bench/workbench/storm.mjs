import { seated } from './seat.mjs';

const SECONDS = 10;
/** Each delivery is two events: it came, and it was answered. */
const PER_SECOND = 500;
/** That they came as fast as they were to: else the rest says little. */
const LEAST_RATE = 950;
const LATEST_MS = 200;
const FEWEST_FRAMES = 10;

/** 1,000 events a second for 10 s, with the timeline before one's eyes. */
export function measureStorm() {
  const count = SECONDS * PER_SECOND;
  const words = ['storm', `events=${count}`, `perSecond=${PER_SECOND}`];
  return seated(
    file => [...words, '--save', file],
    async ({ person, tool, leave }) => {
      await person.sees(/(success|subscribed)/);
      person.press('2');
      const before = person.frames;
      const { lastAt, tookMs } = await tool.next();
      const rate = (2_000 * count) / tookMs;
      const frames = ((person.frames - before) * 1_000) / tookMs;
      const stillAt = await person.rest();
      const seen = Number(await person.sees(/TIMELINE (\d+) events(?!.*TIMELINE)/s));
      const kept = eventsOfCall((await leave()).saved);
      return [
        row(
          'events of the call on the screen at the end',
          `${seen} of ${kept}`,
          `≥ ${2 * count}, all`,
          seen === kept && kept >= 2 * count,
        ),
        row('events a second', rate.toFixed(0), `≥ ${LEAST_RATE}`, rate >= LEAST_RATE),
        row(
          'the last one is on the screen after',
          `${(stillAt - lastAt).toFixed(0)} ms`,
          `≤ ${LATEST_MS} ms`,
          stillAt - lastAt <= LATEST_MS,
        ),
        row('frames a second meanwhile', frames.toFixed(1), `≥ ${FEWEST_FRAMES}`, frames >= FEWEST_FRAMES),
      ];
    },
  );
}

function row(what, figure, target, isMet) {
  return { what, figure, target, isMet };
}

/** Of the only call: what names it, and what became of that on the wire. */
function eventsOfCall(saved) {
  const lines = saved
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
  const legs = new Set(lines.filter(({ calls }) => calls?.length > 0).map(({ leg }) => leg));
  return lines.filter(({ calls, leg }) => calls?.length > 0 || (leg !== undefined && legs.has(leg))).length;
}
