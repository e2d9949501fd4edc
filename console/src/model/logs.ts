// Log entries and the levels that modules log at.

export const LEVELS = ['trace', 'debug', 'info', 'notice', 'warning', 'error', 'critical'] as const;

export interface Entry {
  router: string;
  module: string;
  level: string;
  text: string;
  /** Source file and line, where the router tells them. */
  origin: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** Reads the answer to GET-LOG: lists of module, level, text, file, line and seconds. */
export function entries(router: string, body: unknown): Entry[] {
  if (!Array.isArray(body)) return [];
  return body.filter(Array.isArray).map(([module, level, text, file, line, seconds]) => ({
    router,
    module: String(module),
    level: String(level),
    text: String(text),
    origin: file ? `${String(file).split('/').pop()}:${line ?? ''}` : '',
    at: Number(seconds) * 1000,
  }));
}

/** How bad a level is, 0 for trace; -1 for what is unknown. */
export const severity = (level: string) => (LEVELS as readonly string[]).indexOf(level);

export interface Wanted {
  /** At least this bad; -1 for all. */
  severity: number;
  module: string;
  /** Each word must occur in module or text, whatever its case. */
  words: string;
}

export function matching(all: readonly Entry[], wanted: Wanted): Entry[] {
  const words = wanted.words.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter((entry) => {
    if (severity(entry.level) < wanted.severity || (wanted.module && entry.module !== wanted.module)) return false;
    const text = `${entry.module} ${entry.router} ${entry.text}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The choices for a module: from a level on, nothing, or what DEFAULT says. */
export function choices(module: string): { value: string; label: string }[] {
  const from = LEVELS.map((level) => ({ value: level === 'critical' ? 'critical' : `${level}+`, label: level === 'critical' ? 'critical only' : `${level} and worse` }));
  const rest = [{ value: 'none', label: 'nothing' }];
  return module === 'DEFAULT' ? [...from, ...rest] : [{ value: 'default', label: 'as DEFAULT' }, ...from, ...rest];
}

/** The choice that means the same as an `enable` attribute, or the attribute itself where none does. */
export function choice(enable: unknown): string {
  const value = String(enable ?? '').trim().toLowerCase();
  if (!value || value === 'default') return 'default';
  return value === 'critical+' ? 'critical' : value;
}
