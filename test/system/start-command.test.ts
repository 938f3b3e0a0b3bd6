import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { type StartedCommand, type StartOptions, startCommand } from '../../src/system/start-command.js';
import { LIMITS } from '../../src/util/limits.js';
import { bundled } from '../support/own-program.js';

type Options = Partial<StartOptions>;

const run = promisify(execFile);
let running: StartedCommand | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

const node = (script: string) => `"${process.execPath}" -e '${script}'`;
const SERVER = `const s=require("http").createServer((q,r)=>r.end(process.env.RAP_EMBEDDED+(process.env.OWN??"")));
  s.listen(0,"127.0.0.1",()=>console.log(JSON.stringify({port:s.address().port,name:"x",pid:process.pid})));`;

const start = async (command: string, options: Options = {}) => {
  running = await startCommand({ command, ...options });
  return running;
};
const failure = (command: string, options: Options = {}) =>
  start(command, options).then(
    () => expect.unreachable('it started'),
    error => error,
  );
/** Not by its pid: one that is dead but not yet waited for has that still. */
/** Prints a line of so many characters that names a port. */
const portInLine = (length: number) =>
  `printf '{"port":3001'; head -c ${length - 13} /dev/zero | tr '\\0' ' '; echo '}'`;

const isServing = (url: string) =>
  fetch(url).then(
    () => true,
    () => false,
  );

describe('a command that becomes ready', () => {
  it('reports its URL, and detects that it is embedded', async () => {
    const { url } = await start(node(SERVER), { env: { OWN: '!' } });
    expect(await (await fetch(url)).text()).toBe('1!');
  });

  it.each([
    ['a banner', `printf '\\n  ___\\n Spring\\n\\n'`, '2 lines, the first "___" came before the port'],
    [
      'a line of its log',
      `echo '{"level":"info"}'`,
      'the line "{\\"level\\":\\"info\\"}" came before the port',
    ],
  ])('may print %s before its port', async (_, before, remark) => {
    const remarks: string[] = [];
    const { url } = await start(`${before}; ${node(SERVER)}`, { onRemark: text => remarks.push(text) });
    expect(await isServing(url)).toBe(true);
    expect(remarks).toEqual([remark]);
  });

  it('may print its port with colours and without a final newline', async () => {
    const { url } = await start(`printf '\\033[0m\\033[0m{"port":3001}'`);
    expect(url).toBe('http://127.0.0.1:3001');
  });

  it('may print its port in a long line', async () => {
    const { url } = await start(portInLine(LIMITS.startLineChars.value));
    expect(url).toBe('http://127.0.0.1:3001');
  });

  it('may be known by its URL, whatever it prints', async () => {
    const remarks: string[] = [];
    const { url } = await start(`echo hello; ${node(SERVER)}`, {
      answering: async () => 'http://127.0.0.1:3001',
      onRemark: text => remarks.push(text),
    });
    expect([url, remarks]).toEqual(['http://127.0.0.1:3001', []]);
  });

  it('may continue writing, without being blocked by a full pipe', async () => {
    const noisy = `${SERVER} for (let i=0;i<64;i++) process.stdout.write("x".repeat(65536)); process.stderr.write("done\\n");`;
    const done = new Promise<string>(resolve => {
      const late = `setTimeout(()=>{${noisy}},0)`;
      start(`echo '{"port":1}'; ${node(late)}`, { onStderr: async text => resolve(text) });
    });
    expect(await done).toBe('done\n');
  });

  it('stops with its descendants, once', async () => {
    const { url, exited, stop } = await start(`${node(SERVER)}; true`);
    expect(await isServing(url)).toBe(true);
    await Promise.all([stop(), stop()]);
    expect(await isServing(url)).toBe(false);
    await exited;
  });

  it('is killed if it ignores the interrupt', async () => {
    const { url, stop } = await start(node(`process.on("SIGINT",()=>{}); ${SERVER}`));
    await stop();
    expect(await isServing(url)).toBe(false);
  });

  it('reports how it ended', async () => {
    const { exited } = await start(`echo '{"port":1}'; exit 3`);
    expect(await exited).toEqual({ code: 3, signal: null });
  });
});

describe('a command that does not become ready', () => {
  it.each([
    ['prints other lines only', 'echo hello; echo [1]', 'after: 2 lines, the first "hello"'],
    ['prints objects without a port only', 'echo "{}"', 'after: the line "{}"'],
    ['prints an invalid port', `echo '{"port":65536}'`, 'not a number from 1 to 65535: {"port":65536}'],
    ['prints a port as text', `echo '{"port":"80"}'`, 'not a number from 1 to 65535: {"port":"80"}'],
    ['prints a long line', 'head -c 9000000 /dev/zero | tr "\\0" x', `after: the line "${'x'.repeat(200)}…"`],
    [
      'prints its port in a line that is too long',
      portInLine(LIMITS.startLineChars.value + 1),
      'after: the line "{\\"port\\":3001"',
    ],
    ['prints half of a line', `printf '{"port"'`, 'after: the line "{\\"port\\""'],
  ])('is reported if it %s', async (_, command, problem) => {
    const error = await failure(command);
    expect(error).toMatchObject({ code: 'command-failed', hint: expect.stringContaining('{"port":3001}') });
    expect(error.message).toContain(problem);
  });

  it('is reported without what it writes when it is stopped', async () => {
    const loading =
      'trap "echo KeyboardInterrupt >&2; exit" INT; echo loading >&2; while true; do sleep 1; done';
    const error = await failure(loading, { readyWithinMs: 3_000 });
    expect(error.faults).toEqual(['loading']);
  });

  it('is reported with its exit status and last output', async () => {
    const error = await failure('for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "line $i" >&2; done; exit 3');
    expect(error.message).toMatch(/and ended with status 3$/);
    expect([error.faults.at(0), error.faults.at(-1)]).toEqual(['line 3', 'line 12']);
  });

  it('is reported with the error before a long stack', async () => {
    const error = 'Error: listen EADDRINUSE: address already in use 127.0.0.1:3001';
    const { faults, hint } = await failure(
      `echo "a\n${error}" >&2; for i in $(seq 12); do echo "  at $i" >&2; done; exit 1`,
    );
    expect([faults.length, faults.at(0), faults.at(-1)]).toEqual([10, error, '  at 12']);
    expect(hint).toMatch(/^Port 3001 is already in use/);
  });

  it.each([
    ['Error: listen EADDRINUSE: address already in use 127.0.0.1:3001', /^Port 3001 is already in use/],
    ['listen tcp :8080: bind: address already in use', /^Port 8080 is already in use/],
    ['OSError: [Errno 98] Address already in use', /^Its port is already in use/],
  ])('reports that its port is in use: %s', async (line, hint) => {
    expect((await failure(`echo '${line}' >&2; exit 1`)).hint).toMatch(hint);
  });

  it.each([
    [
      './no-such-file',
      /^Its program or a file of it was not found: check the paths; relative ones begin at \//,
    ],
    ['node no-such-file.mjs', /^Its program or a file of it was not found/],
    ['python3 no-such-file.py', /^Its program or a file of it was not found/],
    ['exit 0', /^Run it alone to see why it ends\. It must keep running/],
  ])('reports that it wrote nothing: %s', async (command, hint) => {
    const error = await failure(command);
    expect(error.message).toMatch(/did not start: it wrote nothing to stdout, and ended with status \d+$/);
    expect(error.hint).toMatch(hint);
  });

  it('is reported with the signal that ended it', async () => {
    expect((await failure('kill -9 $$')).message).toContain('ended with SIGKILL');
  });

  it('is reported after a timeout, and ended', async () => {
    const ended: string[] = [];
    const stubborn =
      'echo "config: not found" >&2; trap "echo interrupted >&2; exit" INT; while :; do sleep 0.05; done';
    const error = await failure(stubborn, {
      readyWithinMs: 100,
      onStderr: async text => void ended.push(text),
    });
    expect(error.message).toContain('it was not ready within 100ms (--ready-timeout)');
    expect(error.hint).toMatch(/^The command must print a line with the port/);
    expect(ended.join('')).toBe('config: not found\ninterrupted\n');
  });

  it('is reported if it ends before it answers at its URL', async () => {
    const error = await failure('echo broken >&2; exit 3', { answering: () => new Promise(() => {}) });
    expect(error.hint).toContain('It must keep running, and must answer at the given URL.');
    expect(error.message).toMatch(/did not start: it ended before it answered, and ended with status 3$/);
    expect(error.faults).toEqual(['broken']);
  });

  it.each([
    ['in a folder that does not exist', { cwd: '/no/such/folder' }, 'no such folder: /no/such/folder'],
    ['without a shell', { env: { PATH: '/no/such/folder' } }, 'program not found'],
  ])('is reported if it could not be started %s', async (_, options, problem) => {
    expect(await failure('true', options)).toMatchObject({
      message: `the command "true" did not start: ${problem}`,
      faults: [`sh: ${problem}`],
      hint: expect.stringContaining('was not found: check the paths'),
    });
  });
});

describe('the end of this process', () => {
  it('ends the command and its descendants', async () => {
    const program = await bundled(`
      import { startCommand } from './src/system/start-command.js';
      startCommand({ command: process.argv[1] ?? '' }).then(({ url }) => { console.log(url); process.exit(); });`);
    const { stdout } = await run(process.execPath, ['-e', program, node(SERVER)]);
    expect(stdout).toMatch(/^http:/);
    expect(await isServing(stdout)).toBe(false);
  });
});
