import { HOSTILE_TEXTS } from './hostile-texts-probe.js';
import { INVOCATION_PROBES, MALFORMED, VALID_CALL } from './invocation-probes.js';
import { LISTENER_PROBES } from './listener-probes.js';
import { NOTICE_PROBES } from './notice-probes.js';
import type { Probe } from './probe.js';

/** All probes; the slowest come first, and those that may crash a tool last. To add a probe, add it to the list of its theme. */
export const PROBES: readonly Probe[] = [
  VALID_CALL,
  ...LISTENER_PROBES,
  ...INVOCATION_PROBES,
  ...NOTICE_PROBES,
  MALFORMED,
  HOSTILE_TEXTS,
];
