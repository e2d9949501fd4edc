/** What rhea decoded, as plain data that can be copied between threads: no class instances, 64-bit numbers as numbers. */
export function plain(value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object') return typeof value === 'function' ? null : value;
  if (value instanceof Date) return value.getTime();
  if (value instanceof Uint8Array) return bytes(value);
  if (Array.isArray(value)) return value.map(plain);
  const members = value as Record<string, unknown>;
  if ('value' in members && 'type' in members && typeof members['type'] === 'object') return plain(members['value']);
  return Object.fromEntries(Object.entries(members).map(([key, member]) => [key, plain(member)]));
}

/** rhea gives integers beyond 53 bits as their eight bytes; anything else that is binary is shown as hexadecimal. */
function bytes(value: Uint8Array): number | string {
  if (value.length === 8) {
    const view = new DataView(value.buffer, value.byteOffset, 8);
    return Number(view.getBigInt64(0));
  }
  return Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
