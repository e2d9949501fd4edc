// What there is one of: the session, what it has seen, and how pages watch it.
import { useEffect, useMemo, useReducer, useState } from 'preact/hooks';
import { History } from './model/history';
import type { RouterNode } from './model/network';
import { schema as fetchSchema, schemaOf as fetchOwnSchema } from './model/operations';
import { PERIOD } from './model/poller';
import { parseSchema, type EntityType, type Schema } from './model/schema';
import { Session } from './model/session';
import type { Source } from './model/source';
import { Store } from './model/store';

export const session = new Session();
export const history = new History(session.poller);

/** The router that pages show, or null for the usual: all of them, or the own one where there are very many. */
export const scope = new Store<string | null>(null);
export const ALL = '*';
/** With more routers than this, pages start with the one that the console is connected to. */
const MANY = 30;

export function useStore<T>(store: Store<T>): T {
  const [, again] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    again(0); // It may have changed between rendering and now.
    return store.subscribe(() => again(0));
  }, [store]);
  return store.get();
}

/** The scope in effect: a router id or ALL. */
export function useScope(): string {
  const chosen = useStore(scope);
  const network = useStore(session.network);
  if (chosen && (chosen === ALL || network.routers.some((router) => router.id === chosen))) return chosen;
  return network.routers.length > MANY ? (network.own?.id ?? ALL) : ALL;
}

export function useScopedRouters(): RouterNode[] {
  const chosen = useScope();
  const network = useStore(session.network);
  return useMemo(() => network.routers.filter((router) => chosen === ALL || router.id === chosen), [chosen, network]);
}

export interface View {
  router: RouterNode;
  source: Source;
}

/** Renders again when something was heard, but the seldomer the more routers there are to hear from. */
function useAnswers(routers: number) {
  const [, again] = useReducer((count: number) => count + 1, 0);
  const pace = Math.min(SLOWEST, routers * 5);
  useEffect(() => {
    let last = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const render = () => {
      last = Date.now();
      timer = undefined;
      again(0);
    };
    const end = session.poller.changes.subscribe(() => (timer ??= setTimeout(render, Math.max(0, last + pace - Date.now()))));
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [pace]);
}

/** However many routers there are, a page is not older than this, in milliseconds. */
const SLOWEST = 1_500;

/** Keeps asking these routers for entities of a type while the calling component is on the page. */
export function useEntities(routers: readonly RouterNode[], type: string, attributes: readonly string[], period = PERIOD): View[] {
  useAnswers(routers.length);
  const wish = `${type}|${attributes.join()}|${period}|${routers.map((router) => router.address).join()}`;
  useEffect(() => {
    const slower = Math.max(period, routers.length * 40);
    const ends = routers.map((router) => session.poller.watch(router.address, type, attributes, slower));
    return () => ends.forEach((end) => end());
  }, [wish]);
  return routers.map((router) => ({ router, source: session.poller.source(router.address, type) }));
}

const schemas = new Map<string, Promise<Schema>>();

/** The schema of a router; it is asked for once. */
export function schemaOf(router: RouterNode): Promise<Schema> {
  const key = `${session.target?.url} ${router.id}`;
  let known = schemas.get(key);
  if (!known) {
    known = fetchSchema(session.client, router.address).then(parseSchema);
    known.catch(() => schemas.delete(key));
    schemas.set(key, known);
  }
  return known;
}

/** A type that not all routers have, as this one describes it; null while that is not known, or if it does not know the type. */
export function useOwnType(router: RouterNode | undefined, type: string | undefined): EntityType | null {
  const [found, setFound] = useState<EntityType | null>(null);
  const state = useStore(session.state);
  useEffect(() => {
    let current = true;
    setFound(null);
    if (!router || !type || state.phase !== 'open') return;
    fetchOwnSchema(session.client, router.address, type).then(
      (body) => current && setFound([...parseSchema(body).values()].find(({ full }) => full === type) ?? null),
      () => {}, // Then nothing can be made of it there.
    );
    return () => {
      current = false;
    };
  }, [router?.address, type, state.phase]);
  return found;
}

export function useSchema(router: RouterNode | undefined): { schema: Schema | null; error: string | null } {
  const [result, setResult] = useState<{ schema: Schema | null; error: string | null }>({ schema: null, error: null });
  const state = useStore(session.state);
  useEffect(() => {
    let current = true;
    if (!router || state.phase !== 'open') return;
    schemaOf(router).then(
      (schema) => current && setResult({ schema, error: null }),
      (error: Error) => current && setResult({ schema: null, error: error.message }),
    );
    return () => {
      current = false;
    };
  }, [router?.address, state.phase]);
  return result;
}
