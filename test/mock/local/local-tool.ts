import type { Event } from '../../../src/events/events.js';
import { parseFixtures } from '../../../src/fixtures/read-fixtures.js';
import { type LocalTool, type LocalToolOptions, startLocalTool } from '../../../src/mock/local-tool.js';
import type { FileText } from '../start-mock.js';

/** A local tool that serves a fixture file; or handlers alone. */
export function localTool(file: FileText | null, options: LocalToolOptions = {}): Promise<LocalTool> {
  const fixtures = file ? { fixtures: parseFixtures({ version: 1, ...file }) } : {};
  return startLocalTool({ ...fixtures, drainMs: 0, ...options });
}

/** Events of one kind so far. */
export function eventsOfKind<K extends Event['kind']>(
  { mock: { events } }: Pick<LocalTool, 'mock'>,
  kind: K,
): Extract<Event, { kind: K }>[] {
  return events.filter((event): event is Extract<Event, { kind: K }> => event.kind === kind);
}
