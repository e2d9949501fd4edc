// The keys of router addresses, taken apart.

export type AddressClass = 'mobile' | 'link route in' | 'link route out' | 'local' | 'topological' | 'router' | 'area' | 'edge' | 'other';

export interface AddressName {
  class: AddressClass;
  /** What a client writes. */
  text: string;
  /** For mobile addresses: 0 to 9, or `fallback`. */
  phase: string | null;
}

const CLASSES: Readonly<Record<string, AddressClass>> = {
  C: 'link route in',
  E: 'link route in',
  D: 'link route out',
  F: 'link route out',
  L: 'local',
  T: 'topological',
  R: 'router',
  A: 'area',
  H: 'edge',
};

/** Takes a key such as `M0orders` or `Lqdhello` apart. */
export function parseKey(key: string): AddressName {
  if (key.startsWith('M') && key.length > 1) {
    const phase = key[1] === 'F' ? 'fallback' : key[1]!;
    return { class: 'mobile', text: key.slice(2), phase };
  }
  const prefix = (key[0] === 'C' || key[0] === 'D') && key.length > 1;
  return { class: CLASSES[key[0] ?? ''] ?? 'other', text: prefix ? `${key.slice(1)}/#` : key.slice(1), phase: null };
}

/** Addresses that routers and consoles use among themselves. */
export function isInternal(key: string): boolean {
  const { class: kind, text } = parseKey(key);
  if (kind === 'mobile') return text.startsWith('$') || text.startsWith('_$') || text.startsWith('temp.');
  return !kind.startsWith('link route');
}

/** As short as can be while telling addresses apart: the text, with the phase where it is not the usual one. */
export function label(key: string | null): string {
  if (!key) return '';
  const { text, phase } = parseKey(key);
  return phase === null || phase === '0' ? text : `${text} (${phase === 'fallback' ? 'fallback' : `phase ${phase}`})`;
}
