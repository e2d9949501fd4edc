import { useState } from 'preact/hooks';
import { session } from '../app';
import type { Item } from '../model/items';
import { update } from '../model/operations';
import { Dialog } from './parts';

/** Asks before it closes a client's connection. */
export function CloseDialog({ item, onClose }: { item: Item; onClose(): void }) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const name = String(item.row['container'] ?? item.row['host'] ?? item.identity);
  const act = async () => {
    setBusy(true);
    try {
      await update(session.client, item.router.address, item.source.type, item.identity, { adminStatus: 'deleted' });
      session.notify('good', `Closed the connection of ${name} at ${item.router.id}.`);
      session.poller.refresh(item.source.node, item.source.type);
      onClose();
    } catch (error) {
      setProblem((error as Error).message);
      setBusy(false);
    }
  };
  return (
    <Dialog title="Close this connection?" onClose={onClose}>
      <p>
        The connection of <b>{name}</b> from {String(item.row['host'] ?? 'an unknown host')} at router <b>{item.router.id}</b> will be closed. Deliveries that it has not settled are released or
        modified, and a client that reconnects by itself will be back soon.
      </p>
      <div role="alert">{problem && <p class="message bad">■ {problem}</p>}</div>
      <footer>
        <button type="button" onClick={onClose}>Cancel</button>
        <button type="button" class="danger" disabled={busy} onClick={act}>Close connection</button>
      </footer>
    </Dialog>
  );
}
