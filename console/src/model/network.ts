// Which routers there are, and where their management nodes are.
import type { Management } from '../amqp/client';
import { managementNodes, query, type Row } from './operations';
import { TYPES } from './types';

export type Kind = 'standalone' | 'interior' | 'edge';

export interface RouterNode {
  id: string;
  /** The address of its management node, as seen from the router that the console is connected to. */
  address: string;
  kind: Kind;
  /** For an edge router, the interior router it is attached to, where that is known. */
  via?: string;
  /** The router that the console is connected to. */
  own: boolean;
}

export interface Network {
  own: RouterNode | null;
  routers: RouterNode[];
}

export const EMPTY: Network = { own: null, routers: [] };
export const OWN_ADDRESS = '$management';

const topological = (id: string) => `amqp:/_topo/0/${id}/$management`;
const edge = (id: string) => `amqp:/_edge/${id}/$management`;

/** The router id in the address of a management node. */
export function idOf(address: string): string {
  return /_(?:topo\/\d+|edge)\/(.+)\/\$management$/.exec(address)?.[1] ?? address;
}

/** So many routers are asked for their edges at once. */
const AT_ONCE = 8;

/**
 * Finds all routers of the network: interior ones by GET-MGMT-NODES, edges by the connections they have. Where `known` edges are given, they
 * are taken as they are, since asking for connections costs more the more routers there are.
 */
export async function discover(management: Management, known?: readonly RouterNode[]): Promise<Network> {
  const [self, listed] = await Promise.all([
    query(management, OWN_ADDRESS, TYPES.router, ['id', 'mode']),
    managementNodes(management, OWN_ADDRESS),
  ]);
  const id = String(self[0]?.['id'] ?? 'router');
  const kind = (['interior', 'edge'].includes(String(self[0]?.['mode'])) ? self[0]!['mode'] : 'standalone') as Kind;
  const own: RouterNode = { id, address: OWN_ADDRESS, kind, own: true };
  if (kind === 'edge') return beyondEdge(management, own, known);
  const routers = interior(own, listed);
  return { own, routers: [...routers, ...(known ?? (await edges(management, routers, own)))] };
}

function interior(own: RouterNode, listed: readonly string[]): RouterNode[] {
  const others = listed.map(idOf).filter((id) => id !== own.id);
  const nodes = others.map((id): RouterNode => ({ id, address: topological(id), kind: 'interior', own: false }));
  return (own.kind === 'edge' ? nodes : [own, ...nodes]).sort((a, b) => a.id.localeCompare(b.id));
}

/** An edge router knows no network; the interior router that it is attached to does. */
async function beyondEdge(management: Management, own: RouterNode, known?: readonly RouterNode[]): Promise<Network> {
  try {
    const connections = await query(management, OWN_ADDRESS, TYPES.connection, ['container', 'role', 'dir', 'active']);
    const uplinks = connections.filter((row) => row['role'] === 'edge' && row['dir'] === 'out');
    const uplink = uplinks.find((row) => row['active'] !== false) ?? uplinks[0];
    if (!uplink) return { own, routers: [own] };
    own.via = String(uplink['container']);
    const routers = interior(own, await managementNodes(management, topological(own.via)));
    return { own, routers: [...routers, own, ...(known ?? (await edges(management, routers, own)))] };
  } catch {
    return { own, routers: [own] };
  }
}

async function edges(management: Management, routers: readonly RouterNode[], own: RouterNode): Promise<RouterNode[]> {
  const found: (readonly [Row, RouterNode])[] = [];
  const waiting = [...routers];
  const ask = async () => {
    for (let router = waiting.shift(); router; router = waiting.shift()) {
      const here = router;
      try {
        const connections = await query(management, here.address, TYPES.connection, ['container', 'role', 'dir', 'active']);
        for (const row of connections) if (row['role'] === 'edge' && row['dir'] === 'in') found.push([row, here]);
      } catch {
        // It is shown as unreachable where it is looked at.
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  const byId = new Map<string, RouterNode>();
  for (const [row, router] of found) {
    const id = String(row['container']);
    if (id === own.id || (byId.has(id) && row['active'] === false)) continue;
    byId.set(id, { id, address: edge(id), kind: 'edge', via: router.id, own: false });
  }
  return [...byId.values()].sort((a, b) => a.id.localeCompare(b.id));
}

/** What has changed between two views of the network, as sentences. */
export function changes(before: Network, after: Network): string[] {
  const ids = (network: Network) => new Set(network.routers.map((router) => router.id));
  const [old, now] = [ids(before), ids(after)];
  const gone = [...old].filter((id) => !now.has(id));
  const come = [...now].filter((id) => !old.has(id));
  const list = (names: string[]) => (names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', '));
  const lines = [];
  if (gone.length) lines.push(`${gone.length === 1 ? 'Router' : 'Routers'} ${list(gone)} left the network.`);
  if (come.length) lines.push(`${come.length === 1 ? 'Router' : 'Routers'} ${list(come)} joined the network.`);
  return lines;
}
