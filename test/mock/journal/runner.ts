import { createLog } from '../../../src/events/log.js';
import { answered, journalAt, messageOf, posted, received } from './runs.js';

/*
 * Journals calls without end, and says of each on stdout, once it is kept: `received <id>`, and of every second one
 * `delivered <id>`. It is there to be killed.
 */

const [, , path = '', name = ''] = process.argv;
const say = (line: string) => process.stdout.write(`${line}\n`);

const { journal } = await journalAt(path);
const log = createLog(() => performance.now());
log.keep(journal);

async function client(number: number): Promise<never> {
  for (let i = 0; ; i++) {
    const id = `${name}-${number}-${i}`;
    const leg = received(log, id);
    await log.kept();
    answered(log, leg, 200, id);
    say(`received ${id}`);
    if (i % 2 === 0) continue;
    const callback = posted(log, id, messageOf('tool_result', id));
    await log.kept();
    answered(log, callback, 200, id);
    await log.kept();
    say(`delivered ${id}`);
  }
}

await Promise.all(Array.from({ length: 50 }, (_, number) => client(number)));
