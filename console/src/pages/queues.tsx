import { useState } from 'preact/hooks';
import { bytes, count, duration, perSecond } from '../model/format';
import type { Item } from '../model/items';
import { TYPES } from '../model/types';
import { href } from '../route';
import { AttributeChart } from '../ui/entity';
import { EntityList } from '../ui/entity-list';
import { Facts } from '../ui/parts';
import { ActionDialog, type Action } from '../ui/queue-actions';
import { Messages } from '../ui/queue-messages';
import type { Column } from '../ui/table';

const number = (id: string, title: string, width: number, hint?: string): Column<Item> => ({
  id, title, width, numeric: true, ...(hint && { hint }), value: ({ row }) => row[id] as number, cell: ({ row }) => count(row[id]),
});
const rated = (id: string, title: string, attribute: string, hint: string): Column<Item> => ({
  id, title, hint, width: 84, numeric: true, value: ({ source, identity }) => source.rate(identity, attribute), cell: ({ source, identity }) => perSecond(source.rate(identity, attribute)),
});
const age = (row: Item['row']) => (typeof row['oldestAge'] === 'number' ? duration(row['oldestAge'] / 1000) : '–');

const COLUMNS: Column<Item>[] = [
  { id: 'router', title: 'Router', width: 86, value: ({ router }) => router.id },
  { id: 'address', title: 'Address', value: ({ row }) => String(row['address'] ?? ''), cell: ({ row }) => <b>{String(row['address'] ?? '–')}</b> },
  number('depth', 'Messages', 96, 'Messages in the queue'),
  { id: 'bytes', title: 'Size', width: 90, numeric: true, value: ({ row }) => row['bytes'] as number, cell: ({ row }) => bytes(row['bytes']) },
  rated('in', 'In /s', 'messagesIn', 'Messages that come into the queue'),
  rated('out', 'Out /s', 'messagesOut', 'Messages that consumers take'),
  number('consumers', 'Consumers', 96),
  number('producers', 'Senders', 84),
  number('acquired', 'Unsettled', 92, 'Messages that consumers have and have not settled'),
  { id: 'oldest', title: 'Oldest', width: 84, numeric: true, hint: 'How long ago the oldest message came', value: ({ row }) => row['oldestAge'] as number, cell: ({ row }) => age(row) },
  number('deadLettered', 'Dead', 74, 'Messages that were rejected, or delivered in vain too often'),
];

/** What is kept until somebody takes it. */
export function QueuesPage() {
  const [action, setAction] = useState<{ action: Action; item: Item } | null>(null);
  const button = (what: Action, title: string, item: Item) => <button key={what} type="button" onClick={() => setAction({ action: what, item })}>{title}</button>;
  return (
    <>
      <EntityList
        own
        title="Queues"
        type={TYPES.queue}
        columns={COLUMNS}
        empty="These routers keep no queues."
        sort={{ column: 'address' }}
        details={(item) => <Details key={item.key} item={item} />}
        actions={(item) => <>{button('MOVE', 'Move…', item)}{button('RETRY', 'Retry…', item)}{button('PURGE', 'Purge…', item)}</>}
      />
      {action && <ActionDialog key={action.action} {...action} onClose={() => setAction(null)} />}
    </>
  );
}

function Details({ item }: { item: Item }) {
  const { row } = item;
  return (
    <>
      <Facts
        facts={[
          ['Messages', `${count(row['depth'])}, ${bytes(row['bytes'])}`],
          ['Unsettled', `${count(row['acquired'])}; ${count(row['delayed'])} wait for their time`],
          ['Oldest', age(row)],
          ['Kept', row['durable'] ? 'on disk' : 'in memory only'],
          ['Limits', [row['maxMessages'] && `${count(row['maxMessages'])} messages`, row['maxBytes'] && bytes(row['maxBytes'])].filter(Boolean).join(', ') || 'none'],
          ['Links', <a href={href('links', '', { q: String(row['address'] ?? '') })}>Senders and receivers</a>],
          ['Try it', <a href={href('messages', '', { address: String(row['address'] ?? '') })}>Send, browse or receive</a>],
          ['Dead letters', row['deadLetterAddress'] ? `go to ${String(row['deadLetterAddress'])}` : 'are dropped'],
        ]}
      />
      <AttributeChart item={item} attribute="depth" title="Messages" />
      <AttributeChart item={item} attribute="messagesIn" title="In" />
      <AttributeChart item={item} attribute="messagesOut" title="Out" />
      <Messages item={item} />
    </>
  );
}
