/**
 * Runtimes that are broken in one way each: what the runtime does, the one requirement that this breaks, and the change
 * to a right runtime.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { modelFaults } from './faults-of-contents.mjs';
import { deliveryFaults } from './faults-of-deliveries.mjs';

const DUMMY = 'http://127.0.0.1:9/callback';

/** What a runtime sends: discovery, invocations, notices. */
const sendingFaults = {
  'dispatches-unknown-operations': {
    breaks: 'RT-OP',
    change: Base =>
      class extends Base {
        find(operation) {
          const toolsets = this.servers.map(({ toolset }) => toolset);
          const isUnknown = toolsets.every(toolset => toolset?.tools.every(({ name }) => name !== operation));
          if (!isUnknown) return super.find(operation);
          return { tool: { name: operation, inputSchema: {} }, endpoint: toolsets[0].endpoint };
        }
      },
  },
  'does-not-validate-arguments': {
    breaks: 'RT-ARGS',
    change: Base =>
      class extends Base {
        argumentFault() {
          return null;
        }
      },
  },
  'reuses-the-id-of-a-finished-call': {
    breaks: 'RT-ID',
    change: Base =>
      class extends Base {
        invocation(call, ...rest) {
          const others = [...this.calls.values()].filter(each => each !== call);
          const used = others.filter(({ state }) => state !== 'done').map(({ sentId }) => sentId);
          const free = others.find(({ state, sentId }) => state === 'done' && !used.includes(sentId));
          call.sentId = free?.sentId ?? call.id;
          return { ...super.invocation(call, ...rest), id: call.sentId };
        }
        match({ group_id, id, tool_call_id }) {
          const isNamed = each => each.thread === group_id && each.sentId === (id ?? tool_call_id);
          const calls = [...this.calls.values()].filter(isNamed);
          return calls.find(({ state }) => state !== 'done') ?? calls.at(-1);
        }
        notify(path, body) {
          const { sentId: tool_call_id } = this.calls.get(JSON.stringify(Object.values(body))) ?? {};
          return super.notify(path, { ...body, ...(tool_call_id && { tool_call_id }) });
        }
      },
  },
  'sends-no-group-id': {
    breaks: 'RT-FIELDS',
    change: Base =>
      class extends Base {
        invocation(...call) {
          const { group_id: _, ...rest } = super.invocation(...call);
          return rest;
        }
      },
  },
  'sends-no-reachable-callback-url': {
    breaks: 'RT-FIELDS',
    change: Base =>
      class extends Base {
        invocation(...call) {
          return { ...super.invocation(...call), callback_url: DUMMY };
        }
      },
  },
  'sends-invocations-as-text': {
    breaks: 'RT-FIELDS',
    change: Base =>
      class extends Base {
        async post(url, body, limit) {
          if (!('operation' in body)) return super.post(url, body, limit);
          const headers = { 'content-type': 'text/plain' };
          const request = { method: 'POST', headers, body: JSON.stringify(body) };
          return fetch(url, request).then(
            ({ status }) => status,
            () => 'unreachable',
          );
        }
      },
  },
  'waits-after-404': accepting(404),
  'waits-after-201': accepting(201),
  'waits-after-204': accepting(204),
  'waits-after-302': accepting(302),
  'hides-500-from-the-model': {
    breaks: 'RT-NON200',
    change: Base =>
      class extends Base {
        async fail(call, reason) {
          if (!/\(5\d\d\)$/.test(reason)) await super.fail(call, reason);
        }
      },
  },
  'retries-4xx': {
    breaks: 'RT-NORETRY',
    change: Base =>
      class extends Base {
        mayRetry(status) {
          return super.mayRetry(status) || status >= 400;
        }
      },
  },
  'never-retries': {
    breaks: 'RT-RETRY',
    change: Base =>
      class extends Base {
        mayRetry() {
          return false;
        }
      },
  },
  'retries-without-pause': {
    breaks: 'RT-RETRY',
    change: Base =>
      class extends Base {
        pauses() {
          return [0, 0]; // so few that a busy machine does not look like pauses
        }
      },
  },
  'loads-the-valid-tools-of-an-invalid-toolset': {
    breaks: 'RT-TOOLSET',
    change: Base =>
      class extends Base {
        readToolset(toolset) {
          const tools = toolset.tools.filter(tool => {
            try {
              return Boolean(super.readToolset({ ...toolset, tools: [tool] }));
            } catch {
              return false;
            }
          });
          return { ...toolset, tools };
        }
      },
  },
  'takes-the-first-of-two-equal-names': {
    breaks: 'RT-TOOLSET',
    change: Base =>
      class extends Base {
        find(operation) {
          const server = this.servers.find(({ toolset }) =>
            toolset?.tools.some(({ name }) => name === operation),
          );
          if (!server) return null;
          const { endpoint, tools } = server.toolset;
          return { endpoint, tool: tools.find(({ name }) => name === operation) };
        }
      },
  },
  'sends-close-only-to-the-first-server': {
    breaks: 'RT-NOTIFY',
    change: Base =>
      class extends Base {
        async notify(path, body) {
          if (path !== '/close_thread') return super.notify(path, body);
          await this.post(this.servers[0].url + path, body, 1_000);
        }
      },
  },
  'waits-for-one-server-after-the-other': {
    breaks: 'RT-NOTIFY',
    change: Base =>
      class extends Base {
        async notify(path, body) {
          for (const { url } of this.servers) await this.post(url + path, body, 2_000);
        }
      },
  },
  'retries-notices': {
    breaks: 'RT-NOTIFY',
    change: Base =>
      class extends Base {
        async notify(path, body) {
          const send = async ({ url }) => {
            for (const pause of [50, 100]) {
              if ((await this.post(url + path, body, 500)) === 200) return;
              await wait(pause);
            }
          };
          await Promise.all(this.servers.map(send));
        }
      },
  },
  'sends-wrong-fields-in-notices': {
    breaks: 'RT-NOTIFY',
    change: Base =>
      class extends Base {
        notify(path, { thread_id: group_id, tool_call_id: id }) {
          return super.notify(path, { group_id, id });
        }
      },
  },
  'sends-no-notices': {
    breaks: 'RT-NOTIFY',
    change: Base =>
      class extends Base {
        async notify() {}
      },
  },
  'fetches-the-toolset-for-every-call': {
    breaks: 'RT-CACHE',
    change: Base =>
      class extends Base {
        async invoke(...call) {
          const load = async ({ url }) => ({ url, toolset: await this.discover(url) });
          this.servers = await Promise.all(this.servers.map(load));
          await super.invoke(...call);
        }
      },
  },
  'migrates-servers-that-do-not-declare-it': {
    breaks: 'RT-MIGRATE',
    change: Base =>
      class extends Base {
        migratingServers() {
          return this.servers;
        }
      },
  },
  'goes-on-after-a-failed-migration': {
    breaks: 'RT-MIGRATE',
    change: Base =>
      class extends Base {
        isMigrated() {
          return true;
        }
      },
  },
  'does-not-wait-for-the-migration': {
    breaks: 'RT-MIGRATE',
    change: Base =>
      class extends Base {
        async post(url, body, limit) {
          const sent = super.post(url, body, limit);
          return url.endsWith('/migrate') ? 200 : sent;
        }
      },
  },
  'logs-nothing': {
    breaks: 'RT-AUDIT',
    change: Base =>
      class extends Base {
        audit() {}
      },
  },
};

function accepting(status) {
  return {
    breaks: 'RT-NON200',
    change: Base =>
      class extends Base {
        isAccepted(each) {
          return each === status || super.isAccepted(each);
        }
      },
  };
}

export const FAULTS = { ...sendingFaults, ...deliveryFaults, ...modelFaults };
