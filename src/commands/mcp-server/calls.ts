import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { ArgumentMaker } from '../../json-schema/example.js';
import type { Tool, Toolset } from '../../protocol/toolset.js';
import { type Line, quote } from '../../render/line.js';
import type { Report } from '../../render/outputs/schemas.js';
import type { Trouble } from '../../render/outputs/trouble.js';
import { createTheme } from '../../render/terminal/theme.js';
import { printed } from '../../render/terminal/wrap.js';
import { operationLines, toolsetLines } from '../../render/toolset.js';
import { toolOf } from '../../runtime/check-call.js';
import { safeJson } from '../../util/safe-json.js';
import { usageError } from '../options.js';
import type { Terminal } from '../terminal.js';
import { answerOf, failureOf, failureWith } from './answer.js';
import type { CheckArguments, InvokeArguments, RenderArguments, ToolsetArguments } from './arguments.js';
import { type Captured, runCaptured } from './captured.js';
import { fileBelow, optionWords, targetWords } from './target-words.js';

/** What a call may use. Each call below runs a command; it throws a ProtocolCliError for wrong arguments. */
export interface CallSurroundings extends Omit<Terminal, 'stdin' | 'stdout' | 'stderr'> {
  /** Whether commands may be started. */
  readonly mayStart: boolean;
}

/** `toolset`: the document, or the part that is about one operation. */
export async function showToolset(
  { operation, ...target }: ToolsetArguments,
  surroundings: CallSurroundings,
): Promise<CallToolResult> {
  const { options, urls } = targetWords(target, surroundings);
  const { toolsetCommand } = await import('../toolset/command.js');
  const ran = await runCaptured(toolsetCommand, [...options, '--output=json', '--', ...urls], surroundings);
  if (ran.stdout === '') return failureWith(ran.stderr);
  const whole: Toolset = JSON.parse(ran.stdout); // the command has validated it
  if (operation === undefined) return answerOf({ ...whole }, plain(toolsetLines(whole)) + ran.stderr);
  const tool = toolOf(whole, operation);
  const lines = operationLines(tool, await exampleLine(tool));
  return answerOf({ ...whole, tools: [tool] }, plain(lines) + ran.stderr);
}

/** The arguments of a call with the least that the schema allows. */
async function exampleLine({ name, inputSchema }: Tool): Promise<Line> {
  const example = (await ArgumentMaker.for(inputSchema)).valid();
  return example.ok ? quote(`invoke ${safeJson({ operation: name, arguments: example.arguments })}`) : [];
}

/** `invoke`: the report, and what the human and the LLM get. */
export async function callOperation(
  args: InvokeArguments,
  surroundings: CallSurroundings,
): Promise<CallToolResult> {
  const { options, urls } = targetWords(args, surroundings);
  const words = [
    ...options,
    `--args=${safeJson(args.arguments)}`,
    ...(args.validate ? [] : ['--no-validate']),
    ...(args.choose ?? []).flatMap(choice => optionWords('--choose', choice)),
    `--timeout=${args.timeout}`,
    ...optionWords('--linger', args.linger),
    ...(args.allow_destructive ? ['--yes'] : []),
    '--output=json',
    '--',
    ...urls,
    args.operation,
  ];
  const { invokeCommand } = await import('../invoke/command.js');
  const ran = await runCaptured(invokeCommand, words, surroundings);
  return invokeAnswer(ran, args.operation, surroundings);
}

/** A tool that answers with an error was called as asked; a call that was not made, or has no result, failed. */
async function invokeAnswer(
  ran: Captured,
  operation: string,
  surroundings: CallSurroundings,
): Promise<CallToolResult> {
  if (ran.stdout === '') return failureWith(ran.stderr);
  const report: Report = JSON.parse(ran.stdout);
  const { error, invocation } = report;
  if (error?.code === 'decision-needed' && !invocation)
    return failureOf(notAllowed(`${operation} is marked destructive, so it was not called`));
  const text = invocation ? (await renderCaptured(['-'], surroundings, ran.stdout)).stdout : ran.stderr;
  return error ? failureWith(text, report) : answerOf(report, text);
}

/** `check`: the report. */
export async function checkTool(
  args: CheckArguments,
  surroundings: CallSurroundings,
): Promise<CallToolResult> {
  const { options, urls } = targetWords(args, surroundings);
  const { cases } = args;
  const words = [
    ...options,
    ...(args.operations ?? []).flatMap(name => optionWords('--operation', name)),
    ...optionWords('--cases', cases && (await fileBelow(surroundings.cwd, cases))),
    ...(args.only ?? []).flatMap(id => optionWords('--only', id)),
    ...(args.skip ?? []).flatMap(id => optionWords('--skip', id)),
    ...(args.strict ? ['--strict'] : []),
    ...optionWords('--probe-timeout', args.probe_timeout),
    ...(args.allow_destructive ? [] : ['--no-destructive']),
  ];
  return checkAnswer(words, urls, surroundings);
}

/** A check has two reports: the text on stdout, the data in a file. A failed check is an answer. */
async function checkAnswer(
  words: readonly string[],
  urls: readonly string[],
  surroundings: CallSurroundings,
): Promise<CallToolResult> {
  const folder = await mkdtemp(join(tmpdir(), 'protocol-cli-'));
  try {
    const file = join(folder, 'report.json');
    const { checkCommand } = await import('../check/command.js');
    const reporters = ['--reporter=human', `--reporter=json:${file}`];
    const ran = await runCaptured(checkCommand, [...words, ...reporters, '--', ...urls], surroundings);
    if (ran.failure?.code === 'decision-needed') return failureOf(notAllowed(ran.failure.message));
    const json = ran.failure === null ? await readFile(file, 'utf8').catch(() => null) : null;
    return json === null ? failureWith(ran.stderr) : answerOf(JSON.parse(json), ran.stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** `render`: the object, and the text. */
export async function renderSaved(
  args: RenderArguments,
  surroundings: CallSurroundings,
): Promise<CallToolResult> {
  const { path, text } = args;
  if ((path === undefined) === (text === undefined)) throw usageError('give either path or text');
  const file = path === undefined ? '-' : await fileBelow(surroundings.cwd, path);
  const words = [
    ...optionWords('--call', args.call),
    ...(args.failed ? ['--failed'] : []),
    ...optionWords('--supports', args.supports?.join(',')),
    '--',
    file,
  ];
  const json = await renderCaptured(['--output=json', ...words], surroundings, text);
  if (json.failure !== null) return failureWith(json.stderr);
  const { stdout, stderr } = await renderCaptured(words, surroundings, text);
  return answerOf(JSON.parse(json.stdout || '{}'), stdout + stderr); // without a call that failed there is none
}

async function renderCaptured(
  words: readonly string[],
  surroundings: CallSurroundings,
  text?: string,
): Promise<Captured> {
  const { renderCommand } = await import('../render/command.js');
  return runCaptured(renderCommand, words, surroundings, text);
}

function plain(lines: readonly Line[]): string {
  return printed(lines, createTheme(0));
}

/** @param message which operation is destructive */
function notAllowed(message: string): Trouble {
  const hint = 'If the user agrees to this call, repeat it with allow_destructive: true.';
  return { code: 'decision-needed', message, hint };
}
