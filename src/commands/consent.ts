import * as z from 'zod/mini';
import { ANNOTATIONS, isAnnotation, type Tool } from '../protocol/toolset.js';
import { ProtocolCliError } from '../util/errors.js';
import { didYouMean } from '../util/text.js';
import { visibleLine } from '../util/visible.js';
import { readText } from './read-source.js';
import type { Prompts, Terminal } from './terminal.js';

/**
 * Which tools may be called: deny first, then allow, then the default (seed 002, "ToolPermissionPolicy"). Created on demand: few calls
 * have a policy.
 */
function policySchema() {
  const namePattern = z.string().check(z.minLength(1));
  /** A typo would disable its rule. */
  const annotationName = z.string().check(
    z.refine(isAnnotation, {
      error: ({ input }) =>
        `is not an annotation (${ANNOTATIONS.join(', ')}, or x-vendor-key). ${didYouMean(String(input), ANNOTATIONS)}`.trim(),
    }),
  );
  /** A name or a wildcard, optionally with an annotation; then both must match. */
  const rule = z.union([
    namePattern,
    z
      .strictObject({
        name: z.optional(namePattern),
        annotation: z.optional(annotationName),
        reason: z.optional(z.string()),
      })
      .check(
        z.refine(({ name, annotation }) => name !== undefined || annotation !== undefined, {
          error: 'needs a name or an annotation',
        }),
      ),
  ]);
  return z.strictObject({
    version: z.literal(1),
    deny: z.optional(z.array(rule)),
    allow: z.optional(z.array(rule)),
    /** Default if omitted: `deny` if there is an allow list, otherwise `allow`. */
    default: z.optional(z.enum(['allow', 'deny'])),
  });
}

interface Pattern {
  readonly name?: string | undefined;
  readonly annotation?: string | undefined;
  readonly reason?: string | undefined;
}

type Rule = string | Pattern;

interface Policy {
  readonly version: 1;
  readonly deny?: readonly Rule[] | undefined;
  readonly allow?: readonly Rule[] | undefined;
  readonly default?: 'allow' | 'deny' | undefined;
}

export type ToolInfo = Pick<Tool, 'name' | 'annotations'>;

/** Why a call is denied. */
export interface Denial {
  readonly by: 'person' | 'policy';
  readonly reason: string;
}

/** Decides which calls are allowed: by the policy first; a destructive tool may need the user's consent. */
export class Consent {
  constructor(
    private readonly policy: Policy | null,
    private readonly yes: boolean,
  ) {}

  /**
   * Reads `--yes`, and `--policy` from a YAML or JSON file; `-` is standard input.
   * @throws ProtocolCliError `unreadable-file`, with every error, its line and its path.
   */
  static async read(
    { policy: path, yes = false }: { readonly policy?: string; readonly yes?: boolean },
    { stdin }: Pick<Terminal, 'stdin'>,
  ): Promise<Consent> {
    return new Consent(path === undefined ? null : await readPolicy(path, stdin), yes);
  }

  get usesAnnotations(): boolean {
    const { deny = [], allow = [] } = this.policy ?? {};
    return [...deny, ...allow].some(rule => partsOf(rule).annotation !== undefined);
  }

  judge(tool: ToolInfo): 'allowed' | 'ask' | Denial {
    const { deny = [], allow, default: preset } = this.policy ?? {};
    const denied = deny.find(rule => matches(rule, tool));
    if (denied !== undefined) return { by: 'policy', reason: reasonOf(denied) };
    const allowing = allow?.filter(rule => matches(rule, tool)) ?? [];
    if (allowing.length === 0 && (preset ?? (allow ? 'deny' : 'allow')) === 'deny')
      return { by: 'policy', reason: 'the policy does not allow this tool' };
    // A wildcard, an annotation or the default does not consent to a destructive tool.
    const isNamed = allowing.some(rule => partsOf(rule).name === tool.name);
    return tool.annotations?.destructive !== true || this.yes || isNamed ? 'allowed' : 'ask';
  }

  /**
   * Returns why a call is denied, asking the user if needed; null if it is allowed.
   * @throws ProtocolCliError `decision-needed` without a terminal.
   */
  async denialOf(tool: ToolInfo, args: unknown, prompts: Prompts): Promise<Denial | null> {
    const verdict = this.judge(tool);
    if (verdict !== 'ask') return verdict === 'allowed' ? null : verdict;
    const call = `${tool.name}(${visibleLine(JSON.stringify(args))})`;
    return prompts.lendTerminal(async () => {
      if (!prompts.canAsk)
        throw new ProtocolCliError(
          'decision-needed',
          `${call} is marked destructive and needs a confirmation, which requires a terminal`,
          { hint: 'Add --yes to call it without a question, or a --policy that allows it by name.' },
        );
      const answer = await prompts.ask(`${call} is marked destructive. Call it? [y/N] `);
      return /^y(es)?$/i.test((answer ?? '').trim()) ? null : { by: 'person', reason: 'the user said no' };
    });
  }
}

async function readPolicy(path: string, stdin: Terminal['stdin']): Promise<Policy> {
  const { readFile } = await import('../fixtures/file-errors.js');
  return readFile(
    { path, text: await readText(path, stdin) },
    {
      where: `the policy ${path}`,
      hint: 'For example: {"version": 1, "deny": ["delete_*", {"annotation": "destructive"}]}',
      minimalExample: '`version: 1`',
      code: 'unreadable-file',
      build: source => source.parse(policySchema()),
    },
  );
}

function partsOf(rule: Rule): Pattern {
  return typeof rule === 'string' ? { name: rule } : rule;
}

function matches(rule: Rule, { name, annotations = {} }: ToolInfo): boolean {
  const wanted = partsOf(rule);
  if (wanted.name !== undefined && !matchesWildcard(wanted.name, name)) return false;
  if (wanted.annotation === undefined) return true;
  const entries = new Map<string, unknown>(Object.entries(annotations));
  return ![undefined, null, false, ''].includes(entries.get(wanted.annotation) as undefined);
}

/** `*` matches any characters. Runs in time proportional to both texts, for any number of wildcards. */
function matchesWildcard(pattern: string, name: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}

function reasonOf(rule: Rule): string {
  const { name, annotation, reason } = partsOf(rule);
  if (reason !== undefined) return reason;
  if (annotation === undefined) return `the policy denies ${name}`;
  return `the policy denies ${name ?? 'tools'} annotated ${annotation}`;
}
