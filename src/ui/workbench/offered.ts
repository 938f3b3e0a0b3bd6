import { visibleLine } from '../../text/visible.js';

/** Names of files, as they are offered to whoever saves one. */
export const TRANSCRIPT_NAME = 'session.ndjson';

/** The operation is a good name, as far as a file system takes it: a foreign name is no path. */
export function fixtureName(operation: string): string {
  const stem = visibleLine(operation)
    .replaceAll(/[^\p{L}\p{N}_.-]+/gu, '_')
    .replace(/^\.+/, '')
    .slice(0, 60);
  return `${stem || 'fixture'}.yaml`;
}
