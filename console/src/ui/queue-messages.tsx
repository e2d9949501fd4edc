// The messages of a queue, looked at and left where they are.
import { useState } from 'preact/hooks';
import { session } from '../app';
import { bytes, text } from '../model/format';
import type { Item } from '../model/items';
import { call, type Row } from '../model/operations';

/** How many are asked for at a time. */
const PAGE = 20;
const SECTIONS = ['header', 'deliveryAnnotations', 'messageAnnotations', 'properties', 'applicationProperties', 'footer'];

export function Messages({ item }: { item: Item }) {
  const [selector, setSelector] = useState('');
  const [messages, setMessages] = useState<readonly Row[] | null>(null);
  const [next, setNext] = useState<unknown>(null);
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const look = async (before: readonly Row[], from: unknown) => {
    setBusy(true);
    setProblem('');
    try {
      const given = { count: PAGE, bodyBytes: 4096, ...(selector.trim() && { selector }), ...(typeof from === 'string' && { from }) };
      const answer = await call(session.client, item.router.address, 'PEEK', item.source.type, item.identity, given);
      const found = Array.isArray(answer['messages']) ? (answer['messages'] as Row[]) : [];
      setMessages([...before, ...found]);
      setNext(answer['next'] ?? null);
    } catch (error) {
      setProblem((error as Error).message);
    }
    setBusy(false);
  };
  return (
    <section class="messages" aria-label="Messages">
      <h3>Messages</h3>
      <form onSubmit={(event) => { event.preventDefault(); void look([], null); }}>
        <input type="search" class="filter" aria-label="Selector" placeholder="Selector, such as colour = 'red'" value={selector} onInput={(event) => setSelector(event.currentTarget.value)} />
        <button type="submit" disabled={busy}>{messages ? 'Look again' : 'Look'}</button>
      </form>
      <div role="alert">{problem && <p class="message bad">■ {problem}</p>}</div>
      {messages?.length === 0 && <p class="note">There are no such messages.</p>}
      {messages?.map((message) => <Message key={String(message['place'])} message={message} />)}
      {typeof next === 'string' && <button type="button" disabled={busy} onClick={() => void look(messages ?? [], next)}>More</button>}
    </section>
  );
}

function Message({ message }: { message: Row }) {
  const properties = (message['properties'] ?? {}) as Row;
  const what = properties['subject'] ?? properties['messageId'] ?? '';
  const death = Array.isArray(message['deadLetter']) ? (message['deadLetter'][0] as Row) : undefined;
  const failed = Number(message['deliveryCount'] ?? 0);
  return (
    <details>
      <summary>
        <b>{text(message['place'])}</b> {what ? `${text(what)} · ` : ''}{bytes(message['size'])}
        {failed > 0 && ` · failed ${failed} ×`}
        {message['acquired'] === true && ' · with a consumer'}
        {death && ` · ${text(death['reason'])} at ${text(death['address'])}`}
      </summary>
      <dl class="facts">
        {SECTIONS.flatMap((section) => Object.entries((message[section] ?? {}) as Row).map(([name, value]) => (
          <div key={`${section}.${name}`}>
            <dt>{name}</dt>
            <dd>{text(value)}</dd>
          </div>
        )))}
      </dl>
      {message['body'] !== undefined && <pre>{typeof message['body'] === 'object' ? JSON.stringify(message['body'], null, 2) : text(message['body'])}</pre>}
    </details>
  );
}
