import { ProtocolCliError } from '../../../errors.js';
import type { Exchange } from '../../../exchange/exchange.js';
import type { Trouble } from '../../../reporters/reporter.js';
import { jsonRpcTeller } from '../../../reporters/verbose-json-rpc.js';
import { callMcp, denyMcp, type McpCalled } from '../../../runtime/mcp/call.js';
import type { McpPeer } from '../../../runtime/mcp/explain.js';
import { failureOf } from '../../../story/failure.js';
import { serverLines } from '../../started-server.js';
import { denialOf, loadPolicy } from '../consent.js';
import { type Finish, statusOfCall } from '../finish.js';
import { notesOf } from '../notes.js';
import { asideOf, cancelWhenInterrupted, type Setting, waitsForPeople } from '../opening.js';
import { outputFor } from '../output.js';
import type { Calling } from '../run.js';
import { FormAnswers } from './elicitation.js';
import { notesSoFar, type Reached, reachMcp } from './reach.js';

/** Calls a tool of an MCP server, and tells the result. */
export function overMcp(peer: McpPeer): Calling {
  return async (setting, note) => {
    const { plan, observation, interrupted, terminal, onStop, clock } = setting;
    const { policy: file, yes = false, verbose = false } = plan.options;
    onStop(() => setting.client.close());
    const policy = file === undefined ? null : await loadPolicy(file, terminal);
    const { log, verbosely } = observation;
    const onStderr = (text: string) =>
      void terminal.stderr.write(observation.redactor.text(serverLines(text)));
    const isDrawn = outputFor(plan.options, terminal) === 'ui';
    const onWait = (text: string) => void terminal.stderr.write(observation.redactor.text(text));
    const desk = {
      log,
      terminal,
      onStop,
      clock,
      ...(verbose && !terminal.stdout.isTTY && { onStderr }),
      ...(verbosely && { hear: jsonRpcTeller(observation.redactor, verbosely) }),
      ...(!isDrawn && !plan.options.quiet && { onWait }),
    };
    const reached = await interrupted.race(reachMcp(plan, peer, desk));
    note(notesSoFar(reached));
    const stage = asideOf(setting);
    const denial = await interrupted.race(denialOf(reached.tool, reached.args, { policy, yes }, stage));
    if (interrupted.signal.aborted)
      throw new ProtocolCliError('interrupted', 'interrupted before the tool was called');
    const asked = callOf(setting, reached);
    const { choose } = plan.options;
    const forms = new FormAnswers({ choose, pick: observation.reporter.choose, ...stage });
    const called = denial
      ? { exchange: denyMcp(asked, denial, observation), error: undefined }
      : await call(setting, reached, asked, forms);
    note(notesSoFar(reached)); // there may be more now
    return conclude(setting, reached, called, forms);
  };
}

function callOf({ plan }: Setting, { tool, args, server: { endpoint, headers } }: Reached) {
  const { timeout: timeoutMs } = plan.options;
  return { id: plan.identity.id, operation: tool.name, arguments: args, endpoint, headers, timeoutMs };
}

async function call(
  setting: Setting,
  reached: Reached,
  asked: ReturnType<typeof callOf>,
  { answer }: FormAnswers,
): Promise<McpCalled> {
  const { observation, clock, plan, terminal } = setting;
  const waits = waitsForPeople(plan.options, terminal);
  const stopCancelling = cancelWhenInterrupted(setting, asked.id);
  const called = await callMcp(reached.server, asked, {
    ...observation,
    clock,
    waitsForPeople: waits,
    answer,
  });
  stopCancelling();
  return called;
}

async function conclude(
  setting: Setting,
  reached: Reached,
  called: McpCalled,
  forms: FormAnswers,
): Promise<Finish> {
  const { plan, observation } = setting;
  const { history, reporter } = observation;
  const { exchange } = called;
  const isLeft = exchange.settled?.by === 'cancel' && exchange.settled.who === 'policy';
  const trouble = (isLeft ? forms.trouble : null) ?? troubleOf(reached, called);
  await reporter.settled?.({
    history,
    exchange,
    notes: notesOf(plan, { notes: notesSoFar(reached) }),
    trouble,
  });
  return { exchange, trouble, status: statusOfCall(exchange, trouble) };
}

/** Where the connection failed it is known why, and better than the events can say it. */
function troubleOf({ server }: Reached, { exchange, error }: McpCalled): Trouble | null {
  const failure = failureOf(exchange);
  if (!failure || error === undefined || !isOfConnection(exchange)) return failure;
  const { message, faults, hint } = server.explain(error, 'tools/call');
  return { code: failure.code, message, faults, ...(hint !== undefined && { hint }) };
}

function isOfConnection({ settled }: Exchange): boolean {
  return settled?.by === 'unreachable' || settled?.by === 'refusal';
}
