import { memoizeByObject } from '../../util/collections.js';
import { argumentMaker, type Callable } from './callables.js';
import type { ProbeCall } from './probe-call.js';

/** Maximum number of calls with broken arguments: per operation, and in total. */
const MAX_BROKEN = { each: 6, all: 24 };

/** Calls with broken arguments, made once for a list of operations, which must be harmless: a tool that does not validate executes them. */
export const brokenCalls = memoizeByObject(
  async (harmless: readonly Callable[]): Promise<readonly ProbeCall[]> => {
    const callables = harmless.slice(0, MAX_BROKEN.all);
    const each = Math.min(MAX_BROKEN.each, Math.floor(MAX_BROKEN.all / callables.length));
    const calls = await Promise.all(
      callables.map(async ({ tool, arguments: args, caller }) => {
        const broken = (await argumentMaker(tool)).invalid(args, each);
        return broken.map(args => ({ operation: tool.name, arguments: args, caller }));
      }),
    );
    return calls.flat();
  },
);

const LARGE = 100 * 1024;

/** Texts that a careless tool takes for a path, a command, a query or the end of a text. They do no harm to one that does. */
const TEXTS: readonly string[] = [
  `"double", 'single' and \`back\` quotes`,
  '../../no-such-folder/no-such-file',
  '$(echo hostile) `echo hostile` | echo hostile',
  "'; -- hostile",
  'before\u0000after',
  'Zoë 工具 👩🏽‍💻',
  'x'.repeat(LARGE),
];

/** Maximum number of calls with hostile texts. */
const MAX_HOSTILE = 4 * TEXTS.length;

/**
 * Calls with valid arguments that hold hostile texts, made once for a list of operations. With many operations, each gets some of the
 * texts, and all together get each text.
 */
export const hostileCalls = memoizeByObject(
  async (harmless: readonly Callable[]): Promise<readonly ProbeCall[]> => {
    const callables = harmless.slice(0, MAX_HOSTILE);
    const each = Math.min(TEXTS.length, Math.floor(MAX_HOSTILE / callables.length));
    const calls = await Promise.all(
      callables.map(async ({ tool, arguments: args, caller }, index) => {
        const maker = await argumentMaker(tool);
        const first = (index * each) % TEXTS.length;
        const own = [...TEXTS.slice(first), ...TEXTS.slice(0, first)].flatMap(text => {
          const hostile = maker.withText(args, text);
          return hostile ? [{ operation: tool.name, arguments: hostile, caller }] : [];
        });
        return own.slice(0, each);
      }),
    );
    return calls.flat();
  },
);
