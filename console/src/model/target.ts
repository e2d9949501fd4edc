// Where the console connects to when nobody says otherwise.

const KEY = 'waystation.url';

/** The WebSocket address of the host and port that the page came from. */
export function ownUrl(location: { protocol: string; host: string }): string {
  return `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/`;
}

/** What a person types, as a WebSocket address: `host:port`, `http://…` and `ws://…` are all understood. */
export function wsUrl(text: string, secure: boolean): string {
  const trimmed = text.trim();
  const scheme = /^([a-z]+):\/\//i.exec(trimmed)?.[1]?.toLowerCase();
  const rest = scheme ? trimmed.slice(scheme.length + 3) : trimmed;
  const encrypted = scheme ? ['wss', 'https', 'amqps', 'amqpwss'].includes(scheme) : secure;
  const url = new URL(`${encrypted ? 'wss' : 'ws'}://${rest}`);
  return url.href;
}

/** The address of this visit: from the page's query (`?router=host:port`), from the last visit, or the page's own. */
export function firstUrl(page: { protocol: string; host: string; search: string }): string {
  const asked = new URLSearchParams(page.search).get('router');
  try {
    if (asked) return wsUrl(asked, page.protocol === 'https:');
    return sessionStorage.getItem(KEY) ?? ownUrl(page);
  } catch {
    return ownUrl(page);
  }
}

export function rememberUrl(url: string) {
  try {
    sessionStorage.setItem(KEY, url);
  } catch {
    // Then the next reload asks again.
  }
}
