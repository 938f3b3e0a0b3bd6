import type { Document } from './document.js';

/** What has the same lines under every look. */
export function unfolded(length: number): Pick<Document, 'isFoldable' | 'anchorAt' | 'lineAt'> {
  return {
    isFoldable: () => false,
    anchorAt: line => [line],
    lineAt: ([line = 0]) => Math.max(0, Math.min(line, length - 1)),
  };
}
