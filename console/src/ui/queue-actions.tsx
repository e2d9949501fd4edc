// What can be done with the messages of a queue, asked for once more.
import { useId, useState } from 'preact/hooks';
import { session } from '../app';
import { count } from '../model/format';
import type { Item } from '../model/items';
import { call } from '../model/operations';
import { Dialog } from './parts';

export type Action = 'MOVE' | 'RETRY' | 'PURGE';

const WORDS: Readonly<Record<Action, { title: string; text: string; button: string; done: string }>> = {
  MOVE: { title: 'Move messages', text: 'Messages go to the end of another queue, the oldest first.', button: 'Move', done: 'moved from' },
  RETRY: { title: 'Retry messages', text: 'Messages that were dead-lettered or have expired go back to the queues they came from.', button: 'Retry', done: 'sent back from' },
  PURGE: { title: 'Purge messages?', text: 'Messages are dropped. They cannot be had back.', button: 'Purge', done: 'dropped from' },
};

export function ActionDialog({ action, item, onClose }: { action: Action; item: Item; onClose(): void }) {
  const id = useId();
  const [to, setTo] = useState('');
  const [selector, setSelector] = useState('');
  const [most, setMost] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const words = WORDS[action];
  const address = String(item.row['address']);
  const act = async (event: Event) => {
    event.preventDefault();
    if (action === 'MOVE' && !to.trim()) return setProblem('Say to which queue.');
    if (most.trim() && !/^[1-9]\d*$/.test(most.trim())) return setProblem('A whole number above 0 is needed, or nothing for all.');
    setBusy(true);
    try {
      const given: { to?: string; selector?: string; count?: number } = { ...(action === 'MOVE' && { to: to.trim() }), ...(selector.trim() && { selector }), ...(most.trim() && { count: Number(most) }) };
      let messages = 0;
      let next: unknown = null;
      do {
        // One request looks at so many messages only.
        const part = { ...given, ...(given.count && { count: given.count - messages }), ...(typeof next === 'string' && { from: next }) };
        const answer = await call(session.client, item.router.address, action, item.source.type, item.identity, part);
        messages += Number(answer['messages'] ?? 0);
        next = answer['next'] ?? null;
      } while (typeof next === 'string' && !(given.count && messages >= given.count));
      session.notify('good', `${count(messages)} messages ${words.done} ${address} on ${item.router.id}.`);
      session.poller.refresh(item.source.node, item.source.type);
      onClose();
    } catch (error) {
      setProblem((error as Error).message);
      setBusy(false);
    }
  };
  const text = (name: string, label: string, value: string, set: (text: string) => void, placeholder: string) => (
    <div class="field">
      <label for={`${id}-${name}`}>{label}</label>
      <div><input id={`${id}-${name}`} type="text" autocomplete="off" spellcheck={false} placeholder={placeholder} value={value} onInput={(event) => set(event.currentTarget.value)} /></div>
    </div>
  );
  return (
    <Dialog title={words.title} onClose={onClose}>
      <form class="entity-form" onSubmit={act} noValidate>
        <p class="note">Of queue <b>{address}</b> on router <b>{item.router.id}</b>. {words.text}</p>
        <div class="fields">
          {action === 'MOVE' && text('to', 'To', to, setTo, 'address of a queue')}
          {text('selector', 'Selector', selector, setSelector, "all; or such as colour = 'red'")}
          {text('count', 'At most', most, setMost, 'all')}
        </div>
        <div role="alert">{problem && <p class="message bad">■ {problem}</p>}</div>
        <footer>
          <button type="button" onClick={onClose}>Cancel</button>
          <button type="submit" class={action === 'PURGE' ? 'danger' : 'primary'} disabled={busy}>{words.button}</button>
        </footer>
      </form>
    </Dialog>
  );
}
