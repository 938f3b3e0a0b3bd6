import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { eventually } from './support/eventually.js';
import { temporaryFolder } from './support/folder.js';
import { runHere } from './support/in-process.js';
import { argv, start } from './support/program.js';

/** A tool server in plain Node that writes to its stderr, and exits where the code says so. */
type Code = Readonly<Record<'onInvoke' | 'onClose', string>>;

function serverScript(code: Code): string {
  return `
    const http = require("node:http");
    const die = () => { console.error("it broke\\n  at line 7"); process.exit(3); };
    const s = http.createServer(async (q, r) => {
      let body = ""; for await (const c of q) body += c;
      const endpoint = "http://" + q.headers.host + "/invoke";
      if (q.method === "GET")
        return r.end(JSON.stringify({ name: "dying", endpoint, tools: [{ name: "echo", description: "", inputSchema: {} }] }));
      if (q.url === "/close_thread") { ${code.onClose} }
      const call = JSON.parse(body);
      const send = text => fetch(call.callback_url, { method: "POST", headers: { "content-type": "application/json" },
        body: JSON.stringify({ type: "tool_result", id: call.id, group_id: call.group_id, text }) });
      if (q.url === "/invoke") { ${code.onInvoke} }
      r.end();
    });
    process.stderr.write("listening, ");
    s.listen(0, "127.0.0.1", () => { console.error("ready"); console.log(JSON.stringify({ port: s.address().port })); });`;
}

function server(code: Code): string {
  const script = serverScript(code);
  return `'${process.execPath}' -e '${script.replaceAll("'", `'\\''`)}'`;
}

const ANSWER = 'r.end(); send("done"); return;';
const invoke = (command: string, ...options: string[]) =>
  runHere(argv`invoke --command ${command} echo ${options}`);

describe.concurrent('a server of --command that exits', () => {
  test.each([
    ['of the invocation', 'die()'],
    ['after it has acknowledged', 'r.end(); setTimeout(die, 50); return;'],
  ])(
    '%s: the call ends at once; the error has the status, the last message and the last output',
    async (_, code) => {
      const { status, stdout, stderr } = await invoke(server({ onInvoke: code, onClose: '' }), '-o', 'json');
      expect(status).toBe(4);
      const { error, llm } = JSON.parse(stdout);
      expect(error).toMatchObject({
        code: 'unreachable',
        message: 'the server exited with status 3 after POST /invoke',
      });
      expect(error.faults).toEqual(['listening, ready', 'it broke', '  at line 7']);
      expect(llm.text).toBe('Error: the server exited with status 3 after POST /invoke');
      expect(stderr).toContain('  it broke\n');
    },
  );

  test('after a notice of ours: a warning names the notice', async () => {
    const ended = await invoke(server({ onInvoke: ANSWER, onClose: 'die()' }));
    expect([ended.status, ended.stdout]).toEqual([0, 'done']);
    expect(ended.stderr).toMatch(
      /^warning: the server exited with status 3 after POST \/close_thread\. Last output: .* it broke/m,
    );
  });

  test('after the call: no warning; -v shows its output in whole lines', async () => {
    const sound = server({ onInvoke: ANSWER, onClose: '' });
    expect((await invoke(sound)).stderr).toBe('');
    expect((await invoke(sound, '-v')).stderr).toMatch(/^server: listening, ready$/m);
  });
});

test('--watch restarts the server when its file changes, and repeats the call', async () => {
  await using folder = await temporaryFolder();
  const file = folder.file('server.mjs');
  const serving = (text: string) =>
    serverScript({ onInvoke: `r.end(); send("${text}"); return;`, onClose: '' });
  await writeFile(file, serving('one').replace('require("node:http")', '(await import("node:http"))'));
  const running = start(argv`invoke --command ${`'${process.execPath}' '${file}'`} echo --watch`);
  let [stdout, stderr] = ['', ''];
  running.child.stdout?.on('data', chunk => (stdout += chunk));
  running.child.stderr?.on('data', chunk => (stderr += chunk));
  await eventually('the first result', () => stdout === 'one');
  await eventually('it waits', () => stderr.includes('waiting for a change'));
  await writeFile(folder.file('out.txt'), 'what a server writes beside itself is not a change');
  await writeFile(file, serving('two').replace('require("node:http")', '(await import("node:http"))'));
  await eventually('the second result', () => stdout === 'onetwo');
  await eventually('it waits again', () => stderr.split('waiting for a change').length === 3);
  running.child.kill('SIGINT');
  expect((await running.ended).status).toBe(130);
});
