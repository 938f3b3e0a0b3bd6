'use strict';
// Loaded into the measured process with --require. VmHWM belongs to this program alone; maxRSS, where there is nothing
// better, begins with that of the process it was forked from.
const { readFileSync, writeSync } = require('node:fs');
const CHANNEL = 3;

process.on('exit', () => writeSync(CHANNEL, String(peakKiB())));

function peakKiB() {
  try {
    return Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
  } catch {
    return process.resourceUsage().maxRSS;
  }
}
