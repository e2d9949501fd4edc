// Numbers and times as people read them.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export function count(value: unknown): string {
  return typeof value === 'number' ? whole.format(value) : '–';
}

/** A large number in four characters or so: 1,234 but 12.3k. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (size < 10_000) return whole.format(value);
  for (const [limit, unit, suffix] of [[1e6, 1e3, 'k'], [1e9, 1e6, 'M'], [1e12, 1e9, 'G']] as const) {
    if (size < limit) return `${(value / unit).toPrecision(3)}${suffix}`;
  }
  return value.toExponential(1);
}

/** A rate in events per second; null is not known yet. */
export function perSecond(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (value === 0) return '0';
  if (value < 0.1) return '<0.1';
  if (value < 10) return value.toFixed(1);
  return short(Math.round(value));
}

/** A duration in seconds as `3d 4h`, `5m 6s`. */
export function duration(seconds: unknown): string {
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return '–';
  const total = Math.max(0, Math.floor(seconds));
  const parts: [number, string][] = [
    [Math.floor(total / 86_400), 'd'],
    [Math.floor(total / 3_600) % 24, 'h'],
    [Math.floor(total / 60) % 60, 'm'],
    [total % 60, 's'],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first < 0) return '0s';
  return parts.slice(first, first + 2).filter(([amount], index) => index === 0 || amount > 0).map(([amount, unit]) => `${amount}${unit}`).join(' ');
}

export function bytes(value: unknown): string {
  if (typeof value !== 'number') return '–';
  for (const [unit, name] of [[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']] as const) {
    if (value >= unit) return `${(value / unit).toPrecision(3)} ${name}`;
  }
  return `${value} B`;
}

export function clock(milliseconds: number): string {
  const date = new Date(milliseconds);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}

/** Any attribute's value as one line of text. */
export function text(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : value.toFixed(3);
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value) || '–';
}
