import { describe, expect, test } from 'vitest';
import {
  type ProcessControl,
  type Signalled,
  signalGroup,
  signalTree,
} from '../../src/system/process-tree.js';

type Machine = Partial<Pick<ProcessControl, 'kill' | 'run'>>;

/** Records what is sent and run on another machine; there a process 7 started 8, which started 9, and 5 is not related. */
function on(platform: NodeJS.Platform, { kill, run = () => '7 1\n8 7\n 9 8\n5 1\n' }: Machine = {}) {
  const done: string[] = [];
  const control: ProcessControl = {
    platform,
    kill(pid, signal) {
      done.push(`${signal} ${pid}`);
      kill?.(pid, signal);
    },
    run(program, args) {
      done.push([program, ...args].join(' '));
      return run(program, args);
    },
  };
  return { control, done };
}

const RUNNING: Signalled = { pid: 7, exitCode: null, signalCode: null };
const ENDED: Signalled = { pid: 7, exitCode: 0, signalCode: null };
const NOT_STARTED: Signalled = { pid: undefined, exitCode: null, signalCode: null };

const PS = 'ps -A -o pid=,ppid=';
const TASKKILL = 'C:\\Windows\\System32\\taskkill.exe /pid 7 /T /F';
const SIGNAL_ALL = ['SIGTERM 7', 'SIGTERM 8', 'SIGTERM 9'];

const CANNOT_RUN = { run: (): null => null };

const throws = (code: string) => ({
  kill() {
    throw Object.assign(new Error(code), { code });
  },
});

describe('a command in a group of its own', () => {
  test.each([
    ['linux', RUNNING, {}, ['SIGTERM -7']],
    ['darwin', RUNNING, {}, ['SIGTERM -7']],
    ['linux', ENDED, {}, ['SIGTERM -7']],
    ['linux', RUNNING, throws('ESRCH'), ['SIGTERM -7']],
    ['darwin', RUNNING, throws('EPERM'), ['SIGTERM -7']],
    ['linux', NOT_STARTED, {}, []],
    ['win32', RUNNING, {}, [TASKKILL]],
    ['win32', RUNNING, CANNOT_RUN, [TASKKILL, 'SIGKILL 7']],
    ['win32', RUNNING, { ...CANNOT_RUN, ...throws('ESRCH') }, [TASKKILL, 'SIGKILL 7']],
    ['win32', ENDED, {}, []],
    ['win32', NOT_STARTED, {}, []],
  ] as const)('on %s: %j %j', (platform, child, machine, expected) => {
    const { control, done } = on(platform, machine);
    signalGroup(child, 'SIGTERM', control);
    expect(done).toEqual(expected);
  });
});

describe('a command in our group', () => {
  test.each([
    ['linux', RUNNING, {}, [PS, ...SIGNAL_ALL]],
    ['darwin', RUNNING, {}, [PS, ...SIGNAL_ALL]],
    ['linux', RUNNING, CANNOT_RUN, [PS, 'SIGTERM 7']],
    ['linux', RUNNING, throws('ESRCH'), [PS, ...SIGNAL_ALL]],
    ['win32', RUNNING, {}, [TASKKILL]],
    ['win32', ENDED, {}, []],
    ['linux', NOT_STARTED, {}, []],
  ] as const)('on %s: %j %j', (platform, child, machine, expected) => {
    const { control, done } = on(platform, machine);
    signalTree(child, 'SIGTERM', control);
    expect(done).toEqual(expected);
  });
});
