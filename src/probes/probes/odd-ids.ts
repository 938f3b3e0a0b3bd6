import { randomUUID } from 'node:crypto';
import { type Probe, withOperation } from '../probe.js';

const LONG = 200;

/** What a model, or another runtime, may well take for an id. */
const ODD: readonly string[] = [
  `"quoted" and 'quoted'`,
  'a/b\\c?d#e&f=g',
  '../../etc/passwd',
  '%2f%2e%00',
  'Zoë 工具 🛠️',
  'x'.repeat(LONG),
];

/** Ids are opaque: they come back as they went out, whatever is in them. */
export const oddIds: Probe = {
  id: 'odd-ids',
  checks: ['TOOL-ID', 'TOOL-GROUP', 'TOOL-CALLID'],
  run: withOperation(async (prober, operation) => {
    const fields = ODD.map(odd => ({ id: unique(odd), group_id: unique(odd), call_id: unique(odd) }));
    await Promise.all(fields.map(each => prober.call({ ...operation, fields: each })));
  }),
};

function unique(odd: string): string {
  return `${odd} ${randomUUID()}`.slice(-LONG);
}
