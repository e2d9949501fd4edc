// A table for thousands of rows: sorted, filtered, walked with the keyboard; only the rows in view are in the page.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

export interface Column<T> {
  id: string;
  title: string;
  /** What rows are sorted and filtered by. */
  value(row: T): string | number | boolean | null | undefined;
  /** What is shown, where that is more than the value. */
  cell?(row: T): ComponentChildren;
  numeric?: boolean;
  /** In pixels; columns without one share what is left. */
  width?: number;
  /** Says what the column means. */
  hint?: string;
}

interface Properties<T> {
  label: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  keyOf(row: T): string;
  onOpen?(row: T): void;
  /** The key of the row whose details are shown. */
  open?: string | null;
  sort?: { column: string; down?: boolean };
  filter?: string;
  /** What to say where there are no rows at all. */
  empty: ComponentChildren;
  /** As high as its rows, for short tables in the flow of a page. */
  flow?: boolean;
}

const ROW = 30;
const BEYOND = 12;
const SHARE = 120;
/** A letter of a heading, in pixels. */
const LETTER = 8.5;

export function DataTable<T>(properties: Properties<T>) {
  const { rows, columns, keyOf, onOpen, open, filter = '' } = properties;
  const [sort, setSort] = useState({ column: properties.sort?.column ?? columns[0]!.id, down: properties.sort?.down ?? false });
  const [focus, setFocus] = useState<string | null>(null);
  const shown = useMemo(() => sorted(filtered(rows, columns, filter), columns, sort), [rows, columns, filter, sort]);
  const box = useRef<HTMLDivElement>(null);
  const window_ = useWindow(box, shown.length, properties.flow === true);
  const focusIndex = Math.max(0, shown.findIndex((row) => keyOf(row) === focus));

  const move = (index: number) => {
    const row = shown[Math.min(Math.max(index, 0), shown.length - 1)];
    if (!row || !box.current) return;
    setFocus(keyOf(row));
    reveal(box.current, shown.indexOf(row));
    led.current = keyOf(row);
    lead();
  };
  // The focus goes to the row that was meant, wherever that is by now: at once, or with the rendering that brings it into the page.
  const led = useRef<string | null>(null);
  const lead = () => {
    if (led.current === null || !box.current) return;
    const at = shown.findIndex((row) => keyOf(row) === led.current);
    const row = at < 0 ? null : box.current.querySelector<HTMLElement>(`[aria-rowindex="${at + 2}"]`);
    const elsewhere = document.activeElement !== document.body && !box.current.contains(document.activeElement);
    if (row && !elsewhere) row.focus({ preventScroll: true });
    if (at < 0 || row || elsewhere) led.current = null;
  };
  useLayoutEffect(lead);
  const onKey = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLTableRowElement)) return;
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 300) / ROW) - 2);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      move(focusIndex + step);
    } else if ((event.key === 'Enter' || event.key === ' ') && onOpen && shown[focusIndex]) {
      event.preventDefault();
      onOpen(shown[focusIndex]);
    }
  };

  const width = columns.reduce((sum, column) => sum + widthOf(column), 0);
  return (
    <div class={`table-box${properties.flow ? ' short' : ''}`} ref={box}>
      <table role="grid" aria-label={properties.label} aria-rowcount={shown.length + 1} style={{ minWidth: `${width}px` }} onKeyDown={onKey}>
        <colgroup>
          {columns.map((column) => (
            <col key={column.id} style={column.width ? { width: `${widthOf(column)}px` } : {}} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <Heading key={column.id} column={column} sort={sort} onSort={setSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {window_.before > 0 && <Gap rows={window_.before} span={columns.length} />}
          {shown.slice(window_.first, window_.end).map((row, offset) => {
            const key = keyOf(row);
            const index = window_.first + offset;
            return (
              <tr
                key={key}
                aria-rowindex={index + 2}
                aria-selected={onOpen ? open === key : undefined}
                class={onOpen ? 'opens' : ''}
                tabIndex={index === focusIndex || (focusIndex < window_.first && offset === 0) ? 0 : -1}
                onFocus={() => setFocus(key)}
                onClick={(event) => onOpen && !(event.target as Element).closest('a,button') && onOpen(row)}
              >
                {columns.map((column) => (
                  <Cell key={column.id} column={column} row={row} />
                ))}
              </tr>
            );
          })}
          {window_.after > 0 && <Gap rows={window_.after} span={columns.length} />}
        </tbody>
      </table>
      {shown.length === 0 && <p class="empty">{rows.length ? `None of ${rows.length} match “${filter}”.` : properties.empty}</p>}
    </div>
  );
}

/** Never narrower than the heading. */
function widthOf<T>(column: Column<T>): number {
  return Math.max(column.width ?? SHARE, 34 + column.title.length * LETTER);
}

function Heading<T>({ column, sort, onSort }: { column: Column<T>; sort: { column: string; down: boolean }; onSort(sort: { column: string; down: boolean }): void }) {
  const active = sort.column === column.id;
  const direction = sort.down ? 'descending' : 'ascending';
  // Numbers are mostly looked at from the largest down.
  const turn = () => onSort({ column: column.id, down: active ? !sort.down : column.numeric === true });
  return (
    <th scope="col" aria-sort={active ? direction : 'none'} class={column.numeric ? 'numeric' : ''}>
      <button type="button" class="heading" title={column.hint} onClick={turn}>
        <span>{column.title}</span>
        <span class="sort" aria-hidden="true">{active ? (sort.down ? '▾' : '▴') : ''}</span>
      </button>
    </th>
  );
}

function Cell<T>({ column, row }: { column: Column<T>; row: T }) {
  const value = column.value(row);
  const plain = value === null || value === undefined || value === '' ? '–' : typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
  return (
    <td class={column.numeric ? 'numeric' : ''} title={plain === '–' ? undefined : plain}>
      {column.cell ? column.cell(row) : plain}
    </td>
  );
}

function Gap({ rows, span }: { rows: number; span: number }) {
  return (
    <tr aria-hidden="true" class="gap">
      <td colSpan={span} style={{ height: `${rows * ROW}px` }} />
    </tr>
  );
}

/** Which rows are in view. */
function useWindow(box: { current: HTMLDivElement | null }, count: number, flow: boolean) {
  const [view, setView] = useState({ top: 0, height: 600 });
  useEffect(() => {
    const element = box.current;
    if (!element || flow) return;
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight });
    look();
    element.addEventListener('scroll', look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', look);
      observer.disconnect();
    };
  }, [flow]);
  if (flow) return { first: 0, end: count, before: 0, after: 0 };
  const first = Math.min(Math.max(0, Math.floor(view.top / ROW) - BEYOND), Math.max(0, count - 1));
  const end = Math.min(count, Math.ceil((view.top + view.height) / ROW) + BEYOND);
  return { first, end, before: first, after: count - end };
}

function reveal(box: HTMLElement, index: number) {
  const top = index * ROW;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + 3 * ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + 3 * ROW - box.clientHeight;
}

export function filtered<T>(rows: readonly T[], columns: readonly Column<T>[], filter: string): readonly T[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return rows;
  return rows.filter((row) => {
    const text = columns.map((column) => column.value(row) ?? '').join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

export function sorted<T>(rows: readonly T[], columns: readonly Column<T>[], sort: { column: string; down: boolean }): readonly T[] {
  const column = columns.find(({ id }) => id === sort.column);
  if (!column) return rows;
  const sign = sort.down ? -1 : 1;
  return [...rows].sort((a, b) => sign * compare(column.value(a), column.value(b)));
}

/** What is not known comes before anything; texts with numbers in them go by the numbers. */
export function compare(a: unknown, b: unknown): number {
  const [none, other] = [a === null || a === undefined, b === null || b === undefined];
  if (none || other) return Number(other) - Number(none);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return collator.compare(String(a), String(b));
}

const collator = new Intl.Collator('en', { numeric: true });
