// Addresses of the whole network: what each router knows of one, put together.
import { isInternal, parseKey, type AddressClass } from './address';
import type { Source } from './source';

export interface PerRouter {
  router: string;
  consumers: number;
  inProcess: number;
  containers: number;
  remotes: string[];
  in: number | null;
  out: number | null;
  transit: number | null;
  totalIn: number;
  totalOut: number;
  edge: boolean;
}

export interface NetworkAddress {
  key: string;
  text: string;
  class: AddressClass;
  phase: string | null;
  distribution: string;
  priority: number | null;
  internal: boolean;
  /** Local consumers over all routers. */
  consumers: number;
  containers: number;
  /** Deliveries a second that come into the network and leave it; null while unknown. */
  in: number | null;
  out: number | null;
  totalIn: number;
  totalOut: number;
  routers: PerRouter[];
}

export const ADDRESS_ATTRIBUTES = [
  'name', 'key', 'distribution', 'inProcess', 'subscriberCount', 'remoteCount', 'containerCount', 'remoteHostRouters',
  'deliveriesIngress', 'deliveriesEgress', 'deliveriesTransit', 'deliveriesToContainer', 'deliveriesFromContainer', 'priority',
];

const number = (value: unknown) => (typeof value === 'number' ? value : 0);
const add = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : a + b);

/** A router's addresses, and where they are known the consumers of each by its key. */
export interface RouterAddresses {
  router: string;
  edge: boolean;
  source: Source;
  consumers: ReadonlyMap<string, number> | null;
}

/** Receivers of clients and brokers by the key of their address; null while that is not known. */
export function consumersOf(links: Source, connections: Source): Map<string, number> | null {
  if (!links.at || !connections.at) return null;
  const result = new Map<string, number>();
  for (const link of links.rows) {
    if (link['linkDir'] !== 'out' || link['linkType'] !== 'endpoint' || typeof link['owningAddr'] !== 'string') continue;
    const role = connections.find(String(link['connectionId']))?.['role'];
    if (role === 'edge' || role === 'inter-router') continue;
    result.set(link['owningAddr'], (result.get(link['owningAddr']) ?? 0) + 1);
  }
  return result;
}

/** One entry for each key, over these routers. */
export function addresses(sources: readonly RouterAddresses[]): NetworkAddress[] {
  const found = new Map<string, NetworkAddress>();
  for (const { router, edge, source, consumers } of sources) {
    for (const row of source.rows) {
      const key = String(row['key'] ?? row['name'] ?? row['identity']);
      const rateOf = (name: string) => source.rate(String(row['identity']), name);
      const entry = found.get(key) ?? start(key, row);
      found.set(key, entry);
      const part: PerRouter = {
        router,
        edge,
        // Routers count the links that they have for each other here too.
        consumers: consumers ? (consumers.get(key) ?? 0) : number(row['subscriberCount']),
        inProcess: number(row['inProcess']),
        containers: number(row['containerCount']),
        remotes: Array.isArray(row['remoteHostRouters']) ? row['remoteHostRouters'].map(String) : [],
        in: rateOf('deliveriesIngress'),
        out: rateOf('deliveriesEgress'),
        transit: rateOf('deliveriesTransit'),
        totalIn: number(row['deliveriesIngress']),
        totalOut: number(row['deliveriesEgress']),
      };
      entry.routers.push(part);
    }
  }
  return [...found.values()].map(summed);
}

/**
 * What an edge router takes in goes on to the router that it is attached to, and counts there again. So only what interior routers
 * count is summed, where there are any.
 */
function summed(entry: NetworkAddress): NetworkAddress {
  const interior = entry.routers.filter(({ edge }) => !edge);
  for (const part of entry.routers) {
    entry.consumers += part.consumers;
    entry.containers += part.containers;
  }
  for (const part of interior.length ? interior : entry.routers) {
    entry.in = add(entry.in, part.in);
    entry.out = add(entry.out, part.out);
    entry.totalIn += part.totalIn;
    entry.totalOut += part.totalOut;
  }
  return entry;
}

function start(key: string, row: Readonly<Record<string, unknown>>): NetworkAddress {
  const { text, phase, class: kind } = parseKey(key);
  return {
    key, text, phase, class: kind,
    distribution: String(row['distribution'] ?? ''),
    priority: typeof row['priority'] === 'number' && row['priority'] >= 0 ? row['priority'] : null,
    internal: isInternal(key),
    consumers: 0, containers: 0, in: null, out: null, totalIn: 0, totalOut: 0, routers: [],
  };
}
