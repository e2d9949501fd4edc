// Why a link does not move, in words that tell what to do about it.
import type { Row } from './operations';

/** What is known of the address that a link belongs to. */
export interface Destinations {
  /** Consumers on this router, attached or in process. */
  local: number;
  /** Other routers that have consumers. */
  remote: number;
}

export interface Verdict {
  /** `stuck` needs somebody; `waiting` may pass by itself; `fine` moves or has nothing to do. */
  tone: 'fine' | 'waiting' | 'stuck';
  text: string;
}

/** A link without credit for less than this many seconds is not worth a word. */
const PATIENCE = 10;

const number = (row: Row, name: string) => (typeof row[name] === 'number' ? (row[name] as number) : 0);

/** Judges a row of `router.link`; `destinations` is null where the address is not known, `rate` where it is not known yet. */
export function verdict(link: Row, destinations: Destinations | null, rate: number | null = null): Verdict {
  const state = link['operStatus'];
  if (state === 'down') return { tone: 'stuck', text: 'The link is down.' };
  if (state === 'quiescing') return { tone: 'waiting', text: 'The link is closing and waits for its deliveries to be settled.' };
  const judged = link['linkDir'] === 'out' ? outgoing(link, rate) : incoming(link, destinations);
  const stuck = number(link, 'deliveriesStuck');
  if (judged.tone === 'fine' && stuck > 0) {
    return { tone: 'stuck', text: `${deliveries(stuck)} unsettled for more than 10 s.` };
  }
  return judged;
}

/** The router sends to a receiver. */
function outgoing(link: Row, rate: number | null): Verdict {
  const waiting = number(link, 'undeliveredCount');
  if (waiting === 0) return FINE;
  const credit = link['creditAvailable'];
  if (credit === 0) return withTime(link, `${deliveries(waiting)} waiting: the receiver gives no credit`);
  // There is always something on its way over a busy link.
  if (rate) return FINE;
  if (typeof credit === 'number') {
    return { tone: 'waiting', text: `${deliveries(waiting)} waiting with credit: the receiver's session or network connection is full.` };
  }
  return { tone: 'waiting', text: `${deliveries(waiting)} waiting.` };
}

/** The router receives from a sender: it is the router that gives credit, when there is somewhere to deliver to. */
function incoming(link: Row, destinations: Destinations | null): Verdict {
  const credit = link['creditAvailable'];
  if (credit !== 0 || !link['owningAddr']) return FINE;
  if (destinations && destinations.local + destinations.remote === 0) return withTime(link, 'No consumers for this address: the sender gets no credit');
  const unsettled = number(link, 'unsettledCount');
  const capacity = number(link, 'capacity');
  if (capacity && unsettled >= capacity) {
    return withTime(link, `All ${capacity} deliveries of the link's capacity are unsettled: the receivers are slow to settle`);
  }
  if (unsettled > 0) return withTime(link, `${deliveries(unsettled)} unsettled: the sender waits for the receivers`);
  return withTime(link, 'The sender has no credit');
}

const FINE: Verdict = { tone: 'fine', text: '' };

function withTime(link: Row, text: string): Verdict {
  const seconds = number(link, 'zeroCreditSeconds');
  if (seconds >= PATIENCE) return { tone: 'stuck', text: `${text} (for ${seconds} s).` };
  return { tone: 'waiting', text: `${text}.` };
}

function deliveries(amount: number): string {
  return amount === 1 ? '1 delivery' : `${amount} deliveries`;
}
