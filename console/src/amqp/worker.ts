// Owns the AMQP connection, so that decoding large answers never holds up the page.
import '../shims/globals';
import { Agent, RequestError } from './agent';
import type { FromWorker, ToWorker } from './protocol';
import { nothingReceived } from './receiving';
import { nothingSent } from './sending';

const post = (message: FromWorker) => self.postMessage(message);
let agent: Agent | undefined;
/** How to stop what sends and receives now. */
const stops = new Map<number, () => void>();
const UNCONNECTED = 'There is no connection.';

self.onmessage = (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  switch (message.kind) {
    case 'open':
      agent?.close();
      agent = open(message);
      break;
    case 'close':
      agent?.close();
      agent = undefined;
      break;
    case 'send':
      send(message);
      break;
    case 'receive':
      receive(message);
      break;
    case 'stop':
      stops.get(message.id)?.();
      break;
    case 'request':
      ask(message.id, message.request);
  }
};

function open({ target }: Extract<ToWorker, { kind: 'open' }>): Agent | undefined {
  let own: Agent | undefined;
  // What a connection that has been replaced has to say is of no interest any more.
  const current = () => own === undefined || own === agent;
  try {
    own = new Agent(target, {
      opened: (container, properties) => current() && post({ kind: 'opened', container, properties }),
      ended: (ending, text) => current() && post({ kind: 'ended', ending, text }),
    });
  } catch (error) {
    post({ kind: 'ended', ending: 'lost', text: String((error as Error).message ?? error) });
  }
  return own;
}

function send({ id, order }: Extract<ToWorker, { kind: 'send' }>) {
  if (!agent) return post({ kind: 'sending', id, report: nothingSent(UNCONNECTED) });
  stops.set(id, agent.send(order, (report) => {
    if (report.phase === 'over') stops.delete(id);
    post({ kind: 'sending', id, report });
  }));
}

function receive({ id, order }: Extract<ToWorker, { kind: 'receive' }>) {
  if (!agent) return post({ kind: 'receiving', id, report: nothingReceived(UNCONNECTED) });
  stops.set(id, agent.receive(order, (report) => {
    if (report.phase === 'over') stops.delete(id);
    post({ kind: 'receiving', id, report });
  }));
}

async function ask(id: number, request: Parameters<Agent['request']>[0]) {
  try {
    if (!agent) throw new RequestError('lost', UNCONNECTED);
    post({ kind: 'reply', id, reply: await agent.request(request) });
  } catch (error) {
    const failure = error instanceof RequestError ? error.failure : 'lost';
    post({ kind: 'failed', id, failure, text: (error as Error).message });
  }
}
