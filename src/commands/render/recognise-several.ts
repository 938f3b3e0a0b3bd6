import { isRecord } from '../../text/is-record.js';
import { parseJson } from '../../text/json.js';
import { jsonParts } from '../../text/json-members.js';
import type { Kind, Recognition, Saved, SoundJson } from './kinds/kind.js';
import { movedInto, withAnswers } from './kinds/moved.js';
import { savedSeveral } from './kinds/several.js';

/** With its article, for a person. */
export const SEVERAL_NAME = 'several of these: a list, or a line for each';

/** The kind that an object is meant as; null where it is none of them. */
export function kindOf(value: unknown, kinds: readonly Kind[]): Kind | null {
  return isRecord(value) ? (kinds.find(each => each.isMeant(value)) ?? null) : null;
}

/** A list of objects that are known here; null where none of its items is. */
export async function recogniseList({ value, notes }: SoundJson, kinds: readonly Kind[]) {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  if (!items.some(item => kindOf(item, kinds))) return null;
  const all: Part[] = [];
  for (const [index, item] of items.entries()) {
    const recognition = await recogniseItem({ ok: true, value: item, notes: [] }, kinds);
    all.push({ place: `$[${index}]`, recognition, change: saved => movedInto([index], saved) });
  }
  return together(all, notes);
}

/** A line of JSON for each object, as `--as` writes several; null where the first line is none that is known here. */
export async function recogniseLines(lines: Iterable<string>, kinds: readonly Kind[]) {
  const all: Part[] = [];
  let number = 0;
  for (const line of lines) {
    number++;
    if (line.trim() === '') continue;
    const json = parseJson(line);
    if (all.length === 0 && !(json.ok && kindOf(json.value, kinds))) return null;
    const recognition = json.ok
      ? await recogniseItem(json, kinds)
      : { ok: false as const, faults: [json.reason] };
    all.push({ place: `line ${number}: `, recognition, change: saved => inLine(line, saved) });
  }
  return all.length === 0 ? null : together(all, []);
}

interface Part {
  /** Before each fault. */
  readonly place: string;
  readonly recognition: Recognition;
  /** As it stands in the whole. */
  change(saved: Saved): Saved;
}

async function recogniseItem(json: SoundJson, kinds: readonly Kind[]): Promise<Recognition> {
  return (
    (await kindOf(json.value, kinds)?.read(json)) ?? {
      ok: false,
      faults: ['$: is nothing that is known here'],
    }
  );
}

function together(parts: readonly Part[], notes: readonly string[]): Recognition {
  const faults = parts.flatMap(({ place, recognition }) =>
    recognition.ok ? [] : recognition.faults.map(fault => placed(place, fault)),
  );
  if (faults.length > 0) return { ok: false, faults };
  const all = parts.flatMap(({ recognition, change }) => (recognition.ok ? [change(recognition.saved)] : []));
  return { ok: true, saved: savedSeveral(all, notes) };
}

/** Of a list the paths are one with its own. */
function placed(place: string, fault: string): string {
  return place.startsWith('$') ? fault.replace(/^\$/, () => place) : place + fault;
}

/** Each line is a source by itself. */
function inLine(line: string, saved: Saved): Saved {
  const part = jsonParts(line.trim());
  return withAnswers(saved, ({ at, ...answer }) => {
    const source = at ? part(at) : null;
    return source === null ? answer : { ...answer, source };
  });
}
