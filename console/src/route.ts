// Which page is shown: the part of the address behind the #.
import { useLayoutEffect, useState } from 'preact/hooks';

export interface Route {
  page: string;
  /** What follows the page, for instance an entity type. */
  argument: string;
  parameters: URLSearchParams;
}

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [page = '', ...rest] = path.split('/');
  return { page: page || 'overview', argument: rest.map(decodeURIComponent).join('/'), parameters: new URLSearchParams(query) };
}

export function href(page: string, argument = '', parameters: Record<string, string> = {}): string {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value)).toString();
  return `#/${page}${argument ? `/${encodeURIComponent(argument)}` : ''}${query ? `?${query}` : ''}`;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  // With the rendering: what changes right after it must not be missed.
  useLayoutEffect(() => {
    const follow = () => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return route;
}

/** Puts a parameter into the address without adding to the browser's history. */
export function setParameter(name: string, value: string) {
  const { page, argument, parameters } = parseRoute(location.hash);
  if (value) parameters.set(name, value);
  else parameters.delete(name);
  history.replaceState(null, '', href(page, argument, Object.fromEntries(parameters)));
  dispatchEvent(new HashChangeEvent('hashchange'));
}
