import { expect, test } from 'vitest';
import { isInternal, label, parseKey } from '../src/model/address';

test('a mobile key gives its phase and its text', () => {
  expect(parseKey('M0orders')).toEqual({ class: 'mobile', text: 'orders', phase: '0' });
  expect(parseKey('M1queue.one')).toEqual({ class: 'mobile', text: 'queue.one', phase: '1' });
  expect(parseKey('MForders').phase).toBe('fallback');
});

test('link-route prefixes are shown as the pattern that they stand for', () => {
  expect(parseKey('Cstore')).toEqual({ class: 'link route in', text: 'store/#', phase: null });
  expect(parseKey('Da/*/b').class).toBe('link route out');
});

test('what routers and consoles use among themselves is internal', () => {
  for (const key of ['Lqdhello', 'Tqdrouter', 'RB', 'HE1', 'M0$management', 'Ltemp.abc', 'M0temp.abc']) expect(isInternal(key), key).toBe(true);
  for (const key of ['M0orders', 'Cstore', 'M0temperature']) expect(isInternal(key), key).toBe(false);
});

test('the phase is said where it is not the usual one', () => {
  expect(label('M0orders')).toBe('orders');
  expect(label('M1orders')).toBe('orders (phase 1)');
  expect(label('MForders')).toBe('orders (fallback)');
  expect(label(null)).toBe('');
});

test('keys that make no sense are shown and do no harm', () => {
  expect(parseKey('')).toEqual({ class: 'other', text: '', phase: null });
  expect(parseKey('M')).toMatchObject({ class: 'other' });
});
