import type { Row } from '../../src/check/conformance.js';
import { rowLines, type WireRecord } from '../../src/render/check-rows.js';
import { plainText } from './words.js';

const ROW: Row = {
  id: 'TOOL-ACK',
  level: 'MUST',
  side: 'tool',
  status: 'could-not-run',
  standing: 'could-not-run',
  reason: '',
  events: [],
};

/** The requests of a finding, as a row of a report shows them. */
export function wireText(proof: Pick<Row, 'events' | 'spots'>, record: WireRecord): string {
  const lines = plainText(rowLines({ ...ROW, ...proof }, record)).split('\n');
  return lines.flatMap(line => (line.startsWith('    │') ? [line.slice(4)] : [])).join('\n');
}
