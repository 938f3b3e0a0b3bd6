import { firstLetter } from './first-letter.mjs';
import { inPairs } from './pairs.mjs';
import { minimalInvoke, nothing, oneLetter, ours, wholeProcess } from './programs.mjs';

const ECHO = { text: 'hello' };

/** Each row measures one thing of ours against something that does the least possible. */
const rows = url => [
  {
    what: '`--version`',
    against: '`node -e 0`',
    target: 1.1,
    ours: () => wholeProcess(ours('--version')),
    theirs: () => wholeProcess(nothing),
  },
  {
    what: '`--help`',
    against: '`node -e 0`',
    target: 1.4,
    ours: () => wholeProcess(ours('--help')),
    theirs: () => wholeProcess(nothing),
  },
  {
    what: '`invoke … -o text`',
    against: 'a minimal script on `node:http`',
    target: 2,
    ours: () => wholeProcess(ours('invoke', url, 'echo', `text=${ECHO.text}`, '-o', 'text'), ECHO.text),
    theirs: () => wholeProcess(minimalInvoke(url, 'echo', ECHO), ECHO.text),
  },
  {
    what: 'first frame of the live view',
    against: '`node -e` printing one letter',
    target: 4,
    ours: () => firstLetter(ours('invoke', url, 'echo', `text=${ECHO.text}`)),
    theirs: () => firstLetter(oneLetter),
  },
];

export async function measureRatios(url, pairs) {
  const measured = [];
  for (const { what, against, target, ...sides } of rows(url)) {
    const figures = await inPairs(sides, pairs);
    measured.push({ what, against, target, ...figures, isMet: figures.ratio.median <= target });
  }
  return measured;
}
