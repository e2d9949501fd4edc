import { useId, useMemo } from 'preact/hooks';
import { session, useEntities, useStore } from '../app';
import { parseKey, isInternal } from '../model/address';
import type { RouterNode } from '../model/network';
import { TYPES } from '../model/types';
import { setParameter, useRoute } from '../route';
import { Page } from '../ui/parts';
import { ReceiveForm } from '../ui/receive-form';
import { SendForm } from '../ui/send-form';

const SELDOM = 15_000;

/** Sending messages to an address, and receiving from it, over the console's own connection. */
export function MessagesPage() {
  const id = useId();
  const address = useRoute().parameters.get('address') ?? '';
  const known = useKnownAddresses();
  return (
    <Page title="Messages" note="Sent and received over the console’s connection, as any client would.">
      <div class="message-address">
        <label for={id}>Address</label>
        <input id={id} type="text" list={`${id}-known`} value={address} placeholder="such as orders" autocomplete="off" spellcheck={false} onInput={(event) => setParameter('address', event.currentTarget.value)} />
        <datalist id={`${id}-known`}>{known.map((name) => <option key={name} value={name} />)}</datalist>
      </div>
      <div class="message-forms">
        <SendForm address={address} />
        <ReceiveForm address={address} />
      </div>
    </Page>
  );
}

/** What the router that the console is connected to knows of: addresses of clients, and its queues. */
function useKnownAddresses(): string[] {
  const { own } = useStore(session.network);
  const routers: readonly RouterNode[] = useMemo(() => (own ? [own] : []), [own?.address]);
  const addresses = useEntities(routers, TYPES.address, ['name', 'key'], SELDOM);
  // A router of the old kind has no queues, and says so.
  const queues = useEntities(routers, TYPES.queue, ['address'], SELDOM);
  const names = new Set<string>();
  for (const { source } of addresses) {
    for (const row of source.rows) {
      const key = String(row['key'] ?? row['name'] ?? '');
      const { class: kind, text, phase } = parseKey(key);
      if (kind === 'mobile' && phase === '0' && !isInternal(key)) names.add(text);
    }
  }
  for (const { source } of queues) for (const row of source.rows) names.add(String(row['address']));
  return [...names].sort((a, b) => a.localeCompare(b)).slice(0, 1_000);
}
