import { endingOf } from './ending.js';
import type { CallEvidence, Evidence } from './evidence.js';
import { unacceptable } from './unacceptable.js';

/** The texts that valid calls ended in, of the operation of a call; of all of them where there is no such operation. */
export type SoundResults = (call: CallEvidence) => ReadonlySet<string>;

export function soundResults(evidence: Evidence): SoundResults {
  const all = new Set<string>();
  const byTool = new Map<string, Set<string>>();
  for (const call of evidence.calls) {
    const text = soundText(call, evidence);
    if (text === null) continue;
    const name = call.tool?.name ?? '';
    all.add(text);
    byTool.set(name, (byTool.get(name) ?? new Set()).add(text));
  }
  return ({ tool }) => (tool ? (byTool.get(tool.name) ?? new Set()) : all);
}

/** A text without the names of its call, which differ in each. */
export function nameless(text: string, { reading }: CallEvidence): string {
  if (!reading.ok) return text;
  const { id, group_id, call_id } = reading.invocation;
  const names = [id, group_id, call_id ?? ''].filter(name => name !== '');
  return names.reduce((rest, name) => rest.replaceAll(name, ''), text);
}

function soundText(call: CallEvidence, evidence: Evidence): string | null {
  if (unacceptable(call, evidence) !== null) return null;
  const ending = endingOf(call);
  return ending.kind === 'result' && !ending.isError ? nameless(ending.text, call) : null;
}
