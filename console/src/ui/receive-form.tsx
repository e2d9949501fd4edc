// Receives messages, or looks at them, and shows what is in them.
import { useEffect, useRef, useState } from 'preact/hooks';
import { session, useStore } from '../app';
import type { Receipt, ReceiveReport, ShownMessage } from '../amqp/protocol';
import { bytes } from '../model/format';
import { receiveOrder, receivingSaid, type ReceiveTexts, type Wrong as Wrongs } from '../model/message';
import { MessageField, useLeadToWrong, Wrong } from './message-field';
import { Badge, Select } from './parts';

const RECEIPTS: { value: Receipt; label: string }[] = [
  { value: 'browse', label: 'leave them there (browse)' },
  { value: 'release', label: 'give them back (release)' },
  { value: 'accept', label: 'take them off (accept)' },
];
const HINTS: Readonly<Record<Receipt, string>> = {
  browse: 'A queue gives copies. Where the address is no queue, messages are given back to their senders.',
  release: 'Messages go back to their queue or to their senders when all have come. A queue may count this as a delivery.',
  accept: 'Messages are taken off, and cannot be had back.',
};

type Texts = Omit<ReceiveTexts, 'address'>;
let kept: Texts = { count: '10', receipt: 'browse', selector: '', wait: '5' };

interface Received {
  phase: ReceiveReport['phase'];
  messages: readonly ShownMessage[];
  note: string | null;
  error: string | null;
  wanted: number;
  address: string;
  receipt: Receipt;
}

export function ReceiveForm({ address }: { address: string }) {
  const state = useStore(session.state);
  const [texts, setTexts] = useState<Texts>(kept);
  const [wrong, setWrong] = useState<Wrongs>({});
  const form = useLeadToWrong(wrong);
  const [received, setReceived] = useState<Received | null>(null);
  const stop = useRef<(() => void) | null>(null);
  useEffect(() => () => stop.current?.(), []);
  const set = (change: Partial<Texts>) => {
    kept = { ...kept, ...change };
    setTexts(kept);
  };
  const busy = received !== null && received.phase !== 'over';
  const receive = (event: Event) => {
    event.preventDefault();
    const made = receiveOrder({ ...texts, address });
    setWrong('wrong' in made ? made.wrong : {});
    if ('wrong' in made) return;
    const { order } = made;
    const first: Received = { phase: 'attaching', messages: [], note: null, error: null, wanted: order.count, address: order.address, receipt: order.receipt };
    setReceived(first);
    stop.current = session.client.receive(order, (report) => setReceived((before) => {
      const so = before ?? first;
      return { ...so, phase: report.phase, error: report.error, note: report.note ?? so.note, messages: [...so.messages, ...report.messages] };
    }));
  };
  const field = (name: keyof Texts, label: string, more: { numeric?: boolean; placeholder?: string } = {}) => (
    <MessageField label={label} value={texts[name]} set={(text) => set({ [name]: text })} wrong={wrong[name]} {...more} />
  );
  return (
    <form ref={form} class="message-form" onSubmit={receive} noValidate aria-label="Receive">
      <h2>Receive</h2>
      <div role="alert"><Wrong text={wrong['address']} /></div>
      <Select label="Messages" value={texts.receipt} options={RECEIPTS} onChange={(receipt) => set({ receipt: receipt as Receipt })} />
      <p class="note">{HINTS[texts.receipt]}</p>
      <div class="message-grid">
        {field('count', 'At most', { numeric: true })}
        {field('wait', 'Wait, seconds', { numeric: true })}
      </div>
      {field('selector', 'Selector', { placeholder: "all; or such as colour = 'red'" })}
      <footer>
        <button type="submit" class="primary" disabled={busy || state.phase !== 'open'}>Receive</button>
        {busy && <button type="button" onClick={() => stop.current?.()}>Stop receiving</button>}
      </footer>
      <div role="status" class="message-result">{received && <Said {...received} />}</div>
      {received && received.messages.map((message, index) => <Shown key={index} place={index + 1} message={message} />)}
    </form>
  );
}

function Said({ phase, messages, wanted, receipt, note, error, address }: Received) {
  return (
    <>
      {(!error || messages.length > 0) && <p><Badge tone={phase !== 'over' || !messages.length ? 'quiet' : 'good'}><span><span class="note">{address}: </span>{receivingSaid(phase, messages.length, wanted, receipt)}</span></Badge></p>}
      {error && <p><Badge tone="bad"><span>{error}</span></Badge></p>}
      {note && <p><Badge tone="warn"><span>{note}</span></Badge></p>}
    </>
  );
}

const SUMMED = ['subject', 'message-id', 'correlation-id'];

function Shown({ place, message }: { place: number; message: ShownMessage }) {
  const properties = message.sections.find(({ name }) => name === 'properties')?.values ?? [];
  const what = properties.find(({ name }) => SUMMED.includes(name))?.text ?? message.body?.text.slice(0, 60) ?? '';
  return (
    <details class="shown-message">
      <summary><b>{place}</b> {what ? `${what} · ` : ''}{bytes(message.size)}</summary>
      {message.sections.map(({ name, values }) => (
        <section key={name}>
          <h3>{name}</h3>
          <dl class="facts">
            {values.map((value, index) => (
              <div key={index}>
                <dt>{value.name}</dt>
                <dd>{value.text} <small class="note">{value.type}</small></dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      {message.body && (
        <section>
          <h3>body <small class="note">{message.body.type}, {bytes(message.body.size)}{message.body.cut && ', of which the beginning is shown'}</small></h3>
          <pre tabIndex={0} role="group" aria-label={`Body of message ${place}`}>{message.body.text}</pre>
        </section>
      )}
      {message.problem && <p class="note">▲ {message.problem}</p>}
    </details>
  );
}
