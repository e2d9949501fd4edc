import { useMemo } from 'preact/hooks';
import { session, useEntities, useStore } from '../app';
import { items } from '../model/items';
import { pins, togglePin, type Pin } from '../model/pins';
import { shortType } from '../model/types';
import { AttributeChart } from '../ui/entity';
import { Page } from '../ui/parts';

/** The charts that a person has put together. */
export function ChartsPage() {
  const all = useStore(pins);
  return (
    <Page title="Charts" note={all.length ? `${all.length}, over the last five minutes; rates for counters` : undefined}>
      {all.length === 0 && (
        <p class="empty">
          No charts yet. Open the details of anything, for instance of an address or a link, and press ☆ beside a number: its chart appears here and is kept in this browser.
        </p>
      )}
      <div class="chart-grid">
        {all.map((pin) => (
          <Pinned key={`${pin.router}/${pin.type}/${pin.identity}/${pin.attribute}`} pin={pin} />
        ))}
      </div>
    </Page>
  );
}

function Pinned({ pin }: { pin: Pin }) {
  const network = useStore(session.network);
  const router = network.routers.find(({ id }) => id === pin.router);
  const routers = useMemo(() => (router ? [router] : []), [router?.address]);
  const views = useEntities(routers, pin.type, ['name', pin.attribute]);
  const item = items(views).find(({ identity }) => identity === pin.identity);
  const title = `${pin.attribute} of ${shortType(pin.type)} ${pin.name} at ${pin.router}`;
  return (
    <section class="pinned" aria-label={title}>
      {item ? <AttributeChart item={item} attribute={pin.attribute} title={title} height={130} /> : <p class="empty">{title}: {router ? (views[0]?.source.error ?? (views[0]?.source.at ? 'it is gone.' : 'asking…')) : 'this router is not in the network.'}</p>}
      <button type="button" class="icon" aria-label={`Remove chart of ${title}`} onClick={() => togglePin(pin)}>✕</button>
    </section>
  );
}
