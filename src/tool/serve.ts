import { type Route, type RunningServer, startServer } from '../transport/server.js';
import { DEFAULTS } from './defaults.js';
import { Intake } from './intake/intake.js';
import { JournalReports } from './journal/report.js';
import type { MockToolOptions } from './options.js';
import { refusalText } from './refusal-text.js';
import { adminRoutes } from './routes/admin.js';
import { choiceRoute } from './routes/choice.js';
import { consentRoutes } from './routes/consent.js';
import { discoveryRoute, INVOKE_PATH } from './routes/discovery.js';
import { noticeRoutes } from './routes/notices.js';
import { post } from './routes/route.js';
import type { Workshop } from './workshop.js';

export interface Serving {
  readonly workshop: Workshop;
  readonly options: MockToolOptions;
  /** RFC 3339. */
  readonly startedAt: string;
  /** Resolves when the tool stops. */
  readonly stopped: Promise<void>;
}

/** Opens the server of a mock tool. @throws ProtocolCliError `port-in-use`, `usage`. */
export function serve(serving: Serving): Promise<RunningServer> {
  const { host, port, allowHosts = [], maxBody = DEFAULTS.maxBody } = serving.options;
  return startServer({
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    allowedHosts: allowHosts,
    maxBody,
    explains: true,
    routes: routesOf(serving),
    onRefused: refusal => serving.workshop.log.emit({ kind: 'warned', message: refusalText(refusal) }),
  });
}

function routesOf({ workshop, options, startedAt, stopped }: Serving): Route[] {
  const { log, desk, repeats, underWay, ring } = workshop;
  const { allowRepeats = false } = options;
  const intake = new Intake({
    desk,
    repeats,
    underWay,
    allowRepeats,
    stopped,
    answers: () => workshop.answers,
  });
  return [
    post(INVOKE_PATH, intake.receive),
    discoveryRoute(log, () => workshop.toolset),
    ...noticeRoutes({
      log,
      cancel: (thread, id) => workshop.cancel(thread, id),
      closeThread: thread => workshop.closeThread(thread),
      needsMigration: () => workshop.toolset.needsMigration,
    }),
    choiceRoute(log, desk.choices),
    ...consentRoutes(log, desk.consents, () => workshop.toolset.name),
    ...adminRoutes({
      journal: new JournalReports(ring, { startedAt, program: options.program ?? 'protocol-cli' }),
      reset: key => workshop.reset(key),
      fire: (id, thread) => desk.demands.fire(id, thread),
    }),
  ];
}
