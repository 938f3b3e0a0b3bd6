import { evidenceLines, type WireRecord } from '../../src/render/check-evidence.js';
import { plainText } from './words.js';

/** The requests of a finding, as a report shows them. */
export function wireText(proof: Parameters<typeof evidenceLines>[0], record: WireRecord): string {
  return plainText(evidenceLines(proof, record));
}
