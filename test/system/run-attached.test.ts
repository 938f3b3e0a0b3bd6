import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { spawn as spawnInTerminal } from '@lydell/node-pty';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runAttached } from '../../src/system/run-attached.js';
import { eventually } from '../e2e/support/eventually.js';
import { isRunning } from '../support/is-running.js';
import { bundled } from '../support/own-program.js';

/** A program that runs its arguments as we do, and then says the status. */
let program = '';
beforeAll(async () => {
  program = await bundled(`
    import { runAttached } from './src/system/run-attached.js';
    const argv = process.argv.slice(1);
    runAttached(argv, { TOOL_URL: 'http://127.0.0.1:9' }).then(
      status => console.log('status ' + status),
      error => console.log(error.code + ': ' + error.message));`);
});

let ours: ChildProcess | undefined;
afterEach(() => ours?.kill('SIGKILL'));

const start = (...argv: string[]) => {
  const process_ = spawn(process.execPath, ['-e', program, '--', ...argv], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  ours = process_;
  return process_;
};
const output = (...argv: string[]) => text(start(...argv).stdout);
const node = (script: string) => [process.execPath, '-e', script];

/** Says so once it listens, counts what it is sent, and ends with SIGTERM. */
const LISTENER = `
  let count = 0;
  process.on('SIGINT', () => console.log('interrupted', ++count));
  process.on('SIGHUP', () => console.log('hung up'));
  process.on('SIGTERM', () => { console.log('terminated'); process.exit(3); });
  setInterval(() => {}, 1000);
  console.log('ready');`;

/** Reads on, up to and with what is awaited. */
function reader(stream: Readable): (awaited: string) => Promise<string> {
  const chunks = stream.setEncoding('utf8').iterator({ destroyOnReturn: false });
  return async awaited => {
    let all = '';
    while (!all.includes(awaited)) {
      const { value, done } = await chunks.next();
      if (done) throw new Error(`it ended, having said ${all}`);
      all += value;
    }
    return all;
  };
}

describe('a command after --', () => {
  it('gets our stdout, the address of the tool, and its arguments unchanged', async () => {
    const script = 'console.log(process.env.TOOL_URL, JSON.stringify(process.argv.slice(1)))';
    expect(await output(...node(script), '--', '$HOME', '*', 'a b', ';')).toBe(
      'http://127.0.0.1:9 ["$HOME","*","a b",";"]\nstatus 0\n',
    );
  });

  it('gets our stdin', async () => {
    const running = start('cat');
    running.stdin.end('said');
    expect(await text(running.stdout)).toBe('saidstatus 0\n');
  });

  it('returns its exit status', async () => {
    expect(await runAttached(node('process.exit(7)'), {})).toBe(7);
    expect(await runAttached(node('process.kill(process.pid, "SIGKILL")'), {})).toBe(137);
    expect(await runAttached(['sh', '-c', 'kill -TERM $$'], {})).toBe(143);
  });

  it.each([
    ['/no/such/program', 'program not found'],
    ['no-such-program-anywhere', 'program not found'],
    ['/etc/passwd', 'it may not be executed'],
  ])('that cannot be started is reported: %s', async (argv, reason) => {
    await expect(runAttached([argv], {})).rejects.toMatchObject({
      code: 'usage',
      message: `the command "${argv}" did not start: ${reason}`,
      hint: expect.stringContaining('sh -c'),
    });
  });

  it('leaves no listeners behind', async () => {
    const counts = () => ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit'].map(name => process.listenerCount(name));
    const before = counts();
    await runAttached(['true'], {});
    await runAttached(['/no/such/program'], {}).catch(() => {});
    expect(counts()).toEqual(before);
  });
});

describe('signals that only this process receives', () => {
  it('are passed on, and the command decides how to react', async () => {
    const running = start(...node(LISTENER));
    const said = reader(running.stdout);
    await said('ready');
    running.kill('SIGHUP');
    await said('hung up');
    running.kill('SIGINT');
    await said('interrupted 1');
    running.kill('SIGTERM');
    expect(await said('status')).toContain('status 3');
  });
});

/** A shell that starts a process of its own, says its pid, and waits for it. */
const FAMILY = ['sh', '-c', 'sleep 1000 & echo "pid $!"; wait; true'];
const STUBBORN = ['sh', '-c', 'trap "" INT; sleep 1000 & echo "pid $!"; while true; do wait; done'];
const pidIn = (text: string) => Number(/pid (\d+)/.exec(text)?.[1]);
const isGone = (pid: number) => !isRunning(pid);

describe('descendants of the command', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('end with it after %s', async signal => {
    const running = start(...FAMILY);
    const pid = pidIn(await reader(running.stdout)('\n'));
    const ended = once(running, 'exit');
    running.kill(signal);
    await ended;
    await eventually('the child of the command has ended', async () => isGone(pid));
  });

  it('end after two SIGINTs, even if the command ignores them', async () => {
    const running = start(...STUBBORN);
    const pid = pidIn(await reader(running.stdout)('\n'));
    const ended = once(running, 'exit');
    await eventually('it has ended', () => {
      running.kill('SIGINT'); // two that come at once would be one
      return running.signalCode !== null;
    });
    expect(await ended).toEqual([null, 'SIGINT']);
    await eventually('the child of the command has ended', async () => isGone(pid));
  });

  it('end with it on a terminal too', async () => {
    const terminal = spawnInTerminal(process.execPath, ['-e', program, '--', ...FAMILY], {});
    const ended = new Promise<void>(resolve => terminal.onExit(() => resolve()));
    let all = '';
    terminal.onData(data => {
      all += data;
    });
    await eventually('the command has started', async () => pidIn(all) > 0);
    process.kill(terminal.pid, 'SIGTERM');
    await ended;
    await eventually('the child of the command has ended', async () => isGone(pidIn(all)));
  });
});

describe('on a terminal', () => {
  it('a command ends by SIGTERM, also where `ps` is missing', async () => {
    const options = { env: { PATH: '/no/such/folder' } };
    const terminal = spawnInTerminal(process.execPath, ['-e', program, '--', ...node(LISTENER)], options);
    let all = '';
    terminal.onData(data => {
      all += data;
    });
    await eventually('the command has started', async () => all.includes('ready'));
    process.kill(terminal.pid, 'SIGTERM');
    await eventually('the command has ended', async () => all.includes('status 3'));
  });

  it('Ctrl-C reaches the command once', async () => {
    const terminal = spawnInTerminal(process.execPath, ['-e', program, '--', ...node(LISTENER)], {});
    let all = '';
    const said = (awaited: string) =>
      new Promise<void>(resolve => {
        const { dispose } = terminal.onData(data => {
          all += data;
          if (!all.includes(awaited)) return;
          dispose();
          resolve();
        });
      });
    await said('ready');
    terminal.write('\u0003');
    await said('interrupted 1');
    process.kill(terminal.pid, 'SIGTERM');
    await said('status 3');
    expect(all).not.toContain('interrupted 2');
  });
});

describe('the end of this process', () => {
  it('ends the command and its descendants', async () => {
    const dying = `${program}; process.stdin.once('data', () => process.exit());`;
    const argv = node('console.log("ready"); setInterval(() => {}, 1000)');
    const running = spawn(process.execPath, ['-e', dying, '--', ...argv], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    ours = running;
    const said = reader(running.stdout);
    await said('ready');
    running.stdin.write('end');
    await finished(running.stdout.resume()); // once no one holds the pipe any more
  });
});
