import { evidenceLines, type Proof, type WireRecord } from '../../src/render/check-evidence.js';
import { plainText } from './words.js';

/** The requests of a finding, as a report shows them. */
export function wireText(proof: Proof, record: WireRecord): string {
  return plainText(evidenceLines(proof, record));
}
