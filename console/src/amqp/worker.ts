// Owns the AMQP connection, so that decoding large answers never holds up the page.
import '../shims/globals';
import { Agent, RequestError } from './agent';
import type { FromWorker, ToWorker } from './protocol';

const post = (message: FromWorker) => self.postMessage(message);
let agent: Agent | undefined;

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

async function ask(id: number, request: Parameters<Agent['request']>[0]) {
  try {
    if (!agent) throw new RequestError('lost', 'There is no connection.');
    post({ kind: 'reply', id, reply: await agent.request(request) });
  } catch (error) {
    const failure = error instanceof RequestError ? error.failure : 'lost';
    post({ kind: 'failed', id, failure, text: (error as Error).message });
  }
}
