import { type Document, isSeq, parseDocument, YAMLMap } from 'yaml';
import type { Row } from '../../check/conformance.js';
import { type ExpectedFailure, readExpectedFailures } from '../../fixtures/check-files.js';
import type { RequirementId } from '../../protocol/requirements.js';
import { writePublicFile } from '../../system/atomic-file.js';
import { isRecord } from '../../util/values.js';

/** How a file of expected failures changes. */
export interface ExpectedChange {
  readonly added: readonly { readonly id: RequirementId; readonly reason: string }[];
  readonly removed: readonly RequirementId[];
}

/** Maximum length of the reason of a new entry, in characters. */
const MAX_REASON = 200;

/** The entries that passed are removed; with `--update`, what failed is added, with what the check found as its reason. */
export function changeOf(rows: readonly Row[], addsFailures: boolean): ExpectedChange {
  const failed = addsFailures ? rows.filter(({ standing }) => standing === 'failed') : [];
  return {
    added: failed.map(({ id, reason, reasonLines }) => ({
      id,
      reason: reasonOf(reasonLines?.[0] ?? reason),
    })),
    removed: rows.filter(({ standing }) => standing === 'stale').map(({ id }) => id),
  };
}

function reasonOf(found: string): string {
  const [first = ''] = found.split('\n', 1);
  return first.trim().slice(0, MAX_REASON) || 'failed';
}

/**
 * Writes a changed file of expected failures, and reads it again. Comments and other entries of YAML stay.
 * @throws ProtocolCliError `unwritable-file`
 */
export async function writeExpected(
  path: string,
  text: string,
  change: ExpectedChange,
): Promise<readonly ExpectedFailure[]> {
  const changed = /^\s*[[{]/.test(text) ? changedJson(text, change) : changedYaml(text, change);
  await writePublicFile(path, changed.text);
  return changed.isEmpty ? [] : readExpectedFailures({ path, text: changed.text });
}

interface ChangedText {
  readonly text: string;
  readonly isEmpty: boolean;
}

function changedJson(text: string, { added, removed }: ExpectedChange): ChangedText {
  const value: unknown = JSON.parse(text);
  const isGone = (id: unknown) => removed.some(each => each === id);
  if (Array.isArray(value)) {
    const left = [...value.filter(each => !isRecord(each) || !isGone(each['id'])), ...added];
    return { text: `${JSON.stringify(left, null, 2)}\n`, isEmpty: left.length === 0 };
  }
  const left = Object.entries(isRecord(value) ? value : {}).filter(([id]) => !isGone(id));
  const entries = [...left, ...added.map(({ id, reason }) => [id, reason] as const)];
  return {
    text: `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`,
    isEmpty: entries.length === 0,
  };
}

function changedYaml(text: string, { added, removed }: ExpectedChange): ChangedText {
  const document: Document = parseDocument(text);
  const { contents } = document;
  if (isSeq(contents)) {
    contents.items = contents.items.filter(item => {
      const id = item instanceof YAMLMap ? item.get('id') : undefined;
      return !removed.some(each => each === id);
    });
    for (const entry of added) contents.add(document.createNode(entry));
    return { text: document.toString({ lineWidth: 0 }), isEmpty: contents.items.length === 0 };
  }
  for (const id of removed) document.delete(id);
  for (const { id, reason } of added) document.set(id, reason);
  const isEmpty = !(document.contents instanceof YAMLMap) || document.contents.items.length === 0;
  return { text: document.toString({ lineWidth: 0 }), isEmpty };
}
