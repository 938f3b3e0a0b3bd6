import { patchOf } from '../diff/patch.mjs';
import { inPairs } from '../pairs.mjs';
import { seated } from './seat.mjs';

const SLOWEST = 2;
const AT_ONCE = 100;
const [UP, DOWN, PAGE_UP, PAGE_DOWN, END, ENTER] = [
  '\u001b[A',
  '\u001b[B',
  '\u001b[5~',
  '\u001b[6~',
  '\u001b[F',
  '\r',
];
/** Three copies of the data, and what the program itself takes. */
const limitOf = bytes => 6 * bytes + 150_000_000;

/** What there may be much of; each pair of keys goes to and fro, so that every one brings about a frame. */
const SUBJECTS = [
  {
    what: '↑, of 10,000 calls',
    against: 'of 100 calls',
    kind: '10,000 calls',
    sizes: [10_000, 100],
    words: (_, transcript) => ['text', 'bytes=100', '--save', transcript],
    begin: runAgain,
    keys: [UP, DOWN],
    bytesOf: (_, saved) => saved.length,
  },
  {
    what: 'next hunk, of 100,000 lines',
    against: 'of 200 lines',
    kind: 'a diff of 100,000 lines',
    sizes: [100_000, 200],
    words: lines => ['diff', `lines=${lines}`],
    begin: readIt,
    keys: [']', '['],
    bytesOf: lines => Buffer.byteLength(patchOf(lines)),
  },
  {
    what: 'PgDn, in a text of 50 MiB',
    against: 'of 50 KiB',
    kind: 'a text',
    sizes: [50 * 1024 * 1024, 50 * 1024],
    words: bytes => ['text', `bytes=${bytes}`],
    begin: readIt,
    keys: [PAGE_DOWN, PAGE_UP],
    bytesOf: bytes => bytes,
  },
];

/** From a key to the last byte of its frame, with much and with little before one's eyes; and what much takes of memory. */
export async function measureKeys(pairs) {
  const measured = { ratios: [], memory: [] };
  for (const subject of SUBJECTS) {
    const { ratio, memory } = await measure(subject, pairs);
    measured.ratios.push(ratio);
    measured.memory.push(memory);
  }
  return measured;
}

function measure({ what, against, kind, sizes, words, begin, keys, bytesOf }, pairs) {
  const [much, little] = sizes;
  return seated(
    file => words(much, file),
    ours =>
      seated(
        file => words(little, file),
        async theirs => {
          await begin(theirs.person, little);
          await begin(ours.person, much);
          const sides = { ours: toAndFro(ours.person, keys), theirs: toAndFro(theirs.person, keys) };
          const figures = await inPairs(sides, pairs);
          await theirs.leave();
          const { peak, saved } = await ours.leave();
          const bytes = bytesOf(much, saved);
          const limit = limitOf(bytes);
          return {
            ratio: {
              what: `workbench: ${what}`,
              against,
              target: SLOWEST,
              ...figures,
              isMet: isMet(figures),
            },
            memory: { kind: `${kind}, workbench`, bytes, peak, limit, isMet: peak <= limit },
          };
        },
      ),
  );
}

function isMet({ ratio }) {
  return ratio.median <= SLOWEST;
}

function toAndFro(person, keys) {
  let count = 0;
  return () => person.timed(keys[count++ % keys.length]);
}

async function readIt(person) {
  await person.sees(/(success)/);
  await person.rest();
  person.press(ENTER);
  await person.rest();
}

/** A hundred at a time, each of another call: what is on its way is not sent again. */
async function runAgain(person, count) {
  await person.sees(/(success)/);
  for (let calls = 1; calls < count; ) {
    const more = Math.min(calls, AT_ONCE, count - calls);
    person.press(`r${UP}`.repeat(more) + END);
    calls += more;
    await person.sees(new RegExp(`(Calls ${calls}\\])`));
  }
  await person.rest();
}
