import { chooseSegment, diffKind, knownTypes } from '../../display/segments.js';
import type { ContentItem } from '../../protocol/callbacks/tool-result.js';
import { llmText, outcomeOfText } from '../../protocol/outcome.js';
import { addresseeIn } from '../../protocol/read-invocation.js';
import { excerpt } from '../../util/excerpt.js';
import { REDACTED } from '../../util/redact.js';
import {
  type CallbackEvidence,
  type CallEvidence,
  type Evidence,
  type Told,
  told,
  toldAs,
} from '../evidence.js';
import {
  type Display,
  displaysOf,
  endingOf,
  saidBy,
  secretFinder,
  textsOf,
  unacceptable,
} from '../evidence-queries.js';
import { broken, doubtful, held, type Observation, type Rule, type Spot, sent, unseen } from '../judge.js';

/** A result that says what went wrong. */
interface ErrorText {
  readonly text: string;
  /** The member that the text is from. */
  readonly spot: Spot;
  readonly callback: CallbackEvidence;
  readonly call: CallEvidence;
}

/** A complaint begins so, with the words of the convention or in its own. */
const COMPLAINS = /^\s*(?:\w{1,60}(?:error|exception)|error|exception|failure|failed|fatal)\s*[:!–-]/i;

/** Every result that is an error by convention, or begins like one, or answers what must not be executed. */
function errorTexts(evidence: Evidence): readonly ErrorText[] {
  return evidence.calls.flatMap(call =>
    isRefusal(call, evidence) ? resultsOf(call).slice(0, 1) : resultsOf(call).filter(isError),
  );
}

function resultsOf(call: CallEvidence): ErrorText[] {
  return toldAs(call, 'tool_result').map(({ callback, message }) => ({
    text: llmText(message),
    spot: sent(callback, message.content === undefined ? 'text' : 'content'),
    callback,
    call,
  }));
}

function isRefusal(call: CallEvidence, evidence: Evidence): boolean {
  if (unacceptable(call, evidence) === null) return false;
  const ending = endingOf(call);
  return ending.kind === 'result' && ending.isError;
}

function isError({ text }: ErrorText): boolean {
  return outcomeOfText(text).type === 'error' || COMPLAINS.test(text);
}

/** Characters of a text that are looked into. */
const LOOKED_AT = 256 * 1024;

const TRACES: readonly RegExp[] = [
  /^[ \t]{1,20}at [^\n]{0,300}(?::\d{1,7}:\d{1,7}\)?|\(<anonymous>\)|\(native\))[ \t]*$/m, // node
  /Traceback \(most recent call last\)|^[ \t]{0,20}File "[^"\n]{1,300}", line \d{1,7}/m, // python
  /^[ \t]{0,20}at [\w.$<>]{1,300}\((?:[\w$]{1,100}\.(?:java|kt|scala):\d{1,7}|Native Method|Unknown Source)\)/m, // java
  /^goroutine \d{1,9} \[|\.go:\d{1,7} \+0x[\da-f]{1,16}/m, // go
  /thread '[^'\n]{1,100}' panicked at/, // rust
  /^[ \t]{1,20}at [^\n]{1,300} in [^\n]{1,300}:line \d{1,7}/m, // .NET
];

const PATHS: readonly RegExp[] = [
  /(?<![\w:/.-])\/(?:home|Users|root|usr|opt|var|private|srv|tmp|mnt)\/[\w.@+-]{1,100}(?:\/[\w.@+-]{1,100}){0,40}/g,
  /\b[A-Za-z]:\\(?:[^\\/:*?"<>|\n]{1,100}\\){1,40}[^\\/:*?"<>|\s]{0,100}/g,
];

/** What of a tool's insides a text shows. */
interface Internals {
  readonly what: string;
  /** Where in the text: the first character, and the one after the last. */
  readonly range: readonly [from: number, to: number];
}

/** What of a tool's insides an error text shows; null where it shows nothing. What the call itself said is nothing inside. */
function internalsIn(whole: string, call: CallEvidence): Internals | null {
  const text = whole.slice(0, LOOKED_AT);
  const [trace] = TRACES.flatMap(each => each.exec(text) ?? []);
  if (trace !== undefined) return { what: 'a stack trace', range: rangeOf(trace, text.indexOf(trace)) };
  const said = saidBy(call);
  const paths = PATHS.flatMap(path => [...text.matchAll(path)]);
  const path = paths.find(([found]) => !said.some(each => each.includes(found)));
  return path ? { what: 'a path of the host', range: rangeOf(path[0], path.index) } : null;
}

function rangeOf(found: string, at: number): Internals['range'] {
  return [at, at + found.length];
}

/** TOOL-NOLEAK: an error says what went wrong, not where in the tool. */
export const hidesItsInsides: Rule = {
  id: 'TOOL-NOLEAK',
  absent: 'no call ended in an error',
  observe: evidence =>
    errorTexts(evidence).map(({ text, spot, callback, call }) => {
      const found = internalsIn(text, call);
      return found === null
        ? held([callback])
        : broken(`${found.what} is in an error`, [callback], {
            spots: [{ ...spot, range: found.range }],
          });
    }),
};

/** TOOL-FALLBACK: what a client is warned of is what is judged. An order that hides a segment was hardly meant. */
export const endsWithText: Rule = {
  id: 'TOOL-FALLBACK',
  isOffered: true,
  absent: 'no result had a display_as',
  observe: evidence => displaysOf(evidence).map(onDisplay),
};

function onDisplay({ callback, segments }: Display): Observation {
  const { warnings } = chooseSegment(segments, knownTypes);
  const spots = [sent(callback, 'display_as')];
  const missing = warnings.find(({ id }) => id === 'TOOL-FALLBACK');
  if (missing) return broken(missing.message, [callback], { spots });
  const hidden = warnings.find(({ id }) => id === undefined);
  return hidden ? doubtful(hidden.message, [callback], { spots }) : held([callback]);
}

/** TOOL-DIFF: a path, and a patch that is one. Wrong line counts are counted anew (the example of seed 000 has them). */
export const givesUnifiedDiffs: Rule = {
  id: 'TOOL-DIFF',
  isOffered: true,
  absent: 'no result had a diff to show',
  observe: evidence => displaysOf(evidence).flatMap(diffOnDisplay),
};

function diffOnDisplay({ callback, segments }: Display): readonly Observation[] {
  return segments.flatMap(({ type, content }, index) => {
    if (type !== diffKind.type) return [];
    const reading = diffKind.read(content);
    const place = `display_as[${index}]`;
    const spots = [sent(callback, 'display_as', index, 'content')];
    if (!reading.ok) return [broken(`${place}: ${reading.reason}`, [callback], { spots })];
    return [
      reading.complaint === undefined
        ? held([callback])
        : doubtful(`${place}: ${reading.complaint}`, [callback], { spots }),
    ];
  });
}

const PREFIX = 'Error: ';

/** TOOL-ERRPREFIX: an error begins as the convention has it, and says something. */
export const prefixesErrors: Rule = {
  id: 'TOOL-ERRPREFIX',
  absent: 'no call ended in an error',
  observe: evidence => errorTexts(evidence).map(onError),
};

function onError({ text, callback, spot }: ErrorText): Observation {
  if (isToldOtherwise(text)) return held([callback]);
  const difference = { expected: `"${PREFIX}…"`, actual: excerpt(text), spots: [spot] };
  if (!text.startsWith(PREFIX))
    return broken('an error does not start with "Error: "', [callback], difference);
  return text.slice(PREFIX.length).trim() === ''
    ? broken('an error has no message', [callback], difference)
    : held([callback]);
}

/** Other ends than an error have words of their own (seed 002). */
function isToldOtherwise(text: string): boolean {
  return ['canceled', 'timeout', 'denied'].includes(outcomeOfText(text).type);
}

/** TOOL-SECRET: no message holds what the call was secured with, nor what looks like a credential. The secret is never repeated. */
export const tellsNoSecret: Rule = {
  id: 'TOOL-SECRET',
  absent: 'no callback came that could be read',
  observe: ({ calls }) => calls.flatMap(onCall),
};

function onCall(call: CallEvidence): readonly Observation[] {
  const messages = told(call);
  if (messages.length === 0) return [];
  const secretIn = secretFinder(call);
  return messages.map(each => onMessage(each, secretIn) ?? onRedacted(each, call) ?? held([each.callback]));
}

type SecretFinder = ReturnType<typeof secretFinder>;

function onMessage(each: Told, secretIn: SecretFinder): Observation | null {
  for (const { place, path, text } of textsOf(each.callback)) {
    const secret = secretIn(text);
    if (secret !== null)
      return broken(`${secret.what} is in ${place} of a ${each.message.type}`, [each.callback], {
        spots: [{ ...sent(each.callback, ...path), range: secret.range }],
      });
  }
  return null;
}

/** It may have been a secret; where nothing else was redacted, the tool itself may have written so. */
function onRedacted({ callback, message }: Told, { reading }: CallEvidence): Observation | null {
  const found = textsOf(callback).find(({ text }) => text.includes(REDACTED));
  if (!found) return null;
  const isRedacted = addresseeIn(reading)?.callback_url.includes(REDACTED) === true;
  const tell = isRedacted ? unseen : doubtful;
  return tell(`a redacted value is in ${found.place} of a ${message.type}`, [callback]);
}

/** TOOL-IMAGE: a picture is described to a model that sees none, and a person whose client draws none gets a text. */
export const describesImages: Rule = {
  id: 'TOOL-IMAGE',
  masks: ['TOOL-FALLBACK'],
  isOffered: true,
  absent: 'no result had an image',
  observe: ({ calls }: Evidence) =>
    calls.flatMap(call =>
      toldAs(call, 'tool_result').flatMap(each => [...onContent(each), ...imageOnDisplay(each)]),
    ),
};

function onContent({ callback, message: { content = [] } }: Told<'tool_result'>): readonly Observation[] {
  if (!content.some(({ type }) => type === 'image')) return [];
  return isDescribing(content[0])
    ? [held([callback])]
    : [
        broken('content has an image, and does not begin with a text that describes it', [callback], {
          spots: [sent(callback, 'content')],
        }),
      ];
}

function isDescribing(item: ContentItem | undefined): boolean {
  return item?.type === 'text' && item.text.trim() !== '';
}

function imageOnDisplay({ callback, message: { display_as: segments = [] } }: Told<'tool_result'>) {
  const image = segments.findLastIndex(({ type }) => type === 'image');
  if (image < 0) return [];
  return segments.slice(image + 1).some(({ type }) => type === 'text')
    ? [held([callback])]
    : [
        broken(`display_as[${image}] is an image, and no text follows it`, [callback], {
          spots: [sent(callback, 'display_as')],
        }),
      ];
}
