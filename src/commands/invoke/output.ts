import { ProtocolCliError } from '../../errors.js';
import { canDraw, defaultOutput, type Output, type Terminal } from '../terminal.js';
import type { InvokeOptions } from './plan.js';

/**
 * The output that was asked for, or the one that suits whoever looks.
 * @throws ProtocolCliError `usage` for one that is not possible here.
 */
export function outputFor({ output, repeat, dialect }: InvokeOptions, terminal: Terminal): Output {
  if (dialect !== undefined) return 'json';
  if (repeat !== undefined) return outputOfMany(output);
  if (output !== 'ui' || canDraw(terminal)) return output ?? defaultOutput(terminal);
  throw new ProtocolCliError(
    'usage',
    '-o ui needs a terminal of at least 40×8 on stdin and stdout, outside CI',
    {
      hint: '-o plain tells the same story in lines.',
    },
  );
}

/** Many calls have no one text, and no one view. */
function outputOfMany(output: Output = 'plain'): Output {
  if (output !== 'text' && output !== 'ui') return output;
  throw new ProtocolCliError('usage', `-o ${output} shows one call, and --repeat makes many`, {
    hint: '-o plain tells each in a line, -o json all in one object.',
  });
}
