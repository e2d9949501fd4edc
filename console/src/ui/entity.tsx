// Any entity's attributes, with charts of those that count.
import { useEffect } from 'preact/hooks';
import { history, useStore } from '../app';
import { bytes, duration, short, text } from '../model/format';
import type { Item } from '../model/items';
import { isCharted, isGauge, pins, same, togglePin, type Pin } from '../model/pins';
import { LineChart } from './chart';

/** A chart of one attribute: its growth a second, or itself where it goes up and down. */
export function AttributeChart({ item, attribute, title, height = 90 }: { item: Item; attribute: string; title?: string; height?: number }) {
  const { router, source, identity } = item;
  useEffect(() => history.track(router.address, source.type, identity, attribute), [router.address, source.type, identity, attribute]);
  const series = history.get(router.address, source.type, identity, attribute);
  const gauge = isGauge(attribute);
  const line = { label: gauge ? 'now' : 'rate', samples: gauge ? [...series.samples] : series.rates() };
  return <LineChart title={title ?? attribute} lines={[line]} height={height} unit={gauge ? '' : '/s'} {...(gauge && { format: gaugeFormat(attribute) })} />;
}

function gaugeFormat(attribute: string) {
  if (attribute === 'memoryUsage') return bytes;
  return (value: number) => (Number.isNaN(value) ? '–' : Number.isInteger(value) ? short(value) : value.toFixed(1));
}

/** All attributes that have a value; numbers can be pinned to the page of charts. */
export function Attributes({ item }: { item: Item }) {
  const pinned = useStore(pins);
  const names = Object.keys(item.row).filter((name) => item.row[name] !== null && item.row[name] !== undefined);
  const unset = Object.keys(item.row).length - names.length;
  return (
    <>
      <dl class="facts attributes">
        {names.map((name) => {
          const value = item.row[name];
          const pin: Pin = { router: item.router.id, type: item.source.type, identity: item.identity, attribute: name, name: String(item.row['name'] ?? item.identity) };
          const on = pinned.some((each) => same(each, pin));
          return (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Value name={name} value={value} />
                {typeof value === 'number' && isCharted(name) && (
                  <button type="button" class="pin" aria-pressed={on} aria-label={`Chart of ${name}`} title={on ? 'Take off the page of charts' : 'Put on the page of charts'} onClick={() => togglePin(pin)}>
                    {on ? '★' : '☆'}
                  </button>
                )}
              </dd>
            </div>
          );
        })}
      </dl>
      {unset > 0 && <p class="note">{unset} more {unset === 1 ? 'attribute is' : 'attributes are'} not set.</p>}
    </>
  );
}

function Value({ name, value }: { name: string; value: unknown }) {
  if (name === 'memoryUsage') return <>{bytes(value)}</>;
  if (/Seconds$/.test(name) && typeof value === 'number' && value >= 60) return <>{duration(value)} <span class="note">({value})</span></>;
  if (value && typeof value === 'object') return <pre>{JSON.stringify(value, null, 2)}</pre>;
  return <>{text(value)}</>;
}
