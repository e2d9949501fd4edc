// Small pieces that pages are put together from.
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { setParameter, useRoute } from '../route';

export type Tone = 'good' | 'warn' | 'bad' | 'quiet';

/** A different shape for each tone, so that nothing is said by colour alone. */
const SHAPES: Record<Tone, string> = { good: '●', warn: '▲', bad: '■', quiet: '○' };

export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`}>
      <span aria-hidden="true" class="shape">{SHAPES[tone]}</span>
      {children}
    </span>
  );
}

/** A page: its heading takes the focus when it is gone to, so that screen readers say where one is. */
export function Page({ title, note, tools, children, fill }: { title: string; note?: ComponentChildren; tools?: ComponentChildren; children: ComponentChildren; fill?: boolean }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = `${title} · Waystation`;
    if (document.activeElement?.closest('nav')) heading.current?.focus();
  }, [title]);
  return (
    <main id="main" class={fill ? 'page fill' : 'page'}>
      <header class="page-head">
        <h1 tabIndex={-1} ref={heading}>{title}</h1>
        {note && <p class="note">{note}</p>}
        {tools && <div class="tools">{tools}</div>}
      </header>
      {children}
    </main>
  );
}

/** The filter of a page's table; it is kept in the address, so that it can be shared and comes back. */
export function Filter({ label }: { label: string }) {
  const { parameters } = useRoute();
  return (
    <input
      type="search"
      class="filter"
      aria-label={label}
      placeholder={label}
      value={parameters.get('q') ?? ''}
      onInput={(event) => setParameter('q', event.currentTarget.value)}
    />
  );
}

export function useFilter(): string {
  return useRoute().parameters.get('q') ?? '';
}

export function Toggle({ name, label, preset = false }: { name: string; label: string; preset?: boolean }) {
  const on = useToggle(name, preset);
  return (
    <label class="toggle">
      <input type="checkbox" checked={on} onChange={() => setParameter(name, on === preset ? (preset ? 'no' : 'yes') : '')} />
      {label}
    </label>
  );
}

export function useToggle(name: string, preset = false): boolean {
  const value = useRoute().parameters.get(name);
  return value === null ? preset : value === 'yes';
}

export function Select({ label, value, options, onChange, hideLabel }: { label: string; value: string; options: readonly { value: string; label: string }[]; onChange(value: string): void; hideLabel?: boolean }) {
  const id = useId();
  return (
    <span class="select">
      <label for={id} class={hideLabel ? 'sr-only' : ''}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>{option.label}</option>
        ))}
      </select>
    </span>
  );
}

/** Details beside what they are of. They have the focus from their first rendering on, so that no key is lost; Escape closes them and gives it back. */
export function Drawer({ title, subtitle, onClose, children, actions }: { title: ComponentChildren; subtitle?: ComponentChildren; onClose(): void; children: ComponentChildren; actions?: ComponentChildren }) {
  const element = useRef<HTMLElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    element.current?.focus({ preventScroll: true });
    return () => before?.focus?.();
  }, []);
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    event.stopPropagation();
    onClose();
  };
  return (
    <aside class="drawer" aria-labelledby={id} tabIndex={-1} ref={element} onKeyDown={onKey}>
      <header>
        <div>
          <h2 id={id}>{title}</h2>
          {subtitle && <p class="note">{subtitle}</p>}
        </div>
        <button type="button" class="icon" aria-label="Close details" onClick={onClose}>✕</button>
      </header>
      {actions && <div class="drawer-actions">{actions}</div>}
      <div class="drawer-body">{children}</div>
    </aside>
  );
}

/** A modal dialog, by the browser's own element, which keeps the focus inside and gives it back. */
export function Dialog({ title, onClose, children }: { title: string; onClose(): void; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  // With the rendering, not after it: keys pressed at once are for the dialog, not for the page behind it.
  useLayoutEffect(() => {
    element.current?.showModal();
    return () => element.current?.close();
  }, []);
  return (
    <dialog ref={element} aria-labelledby={id} onCancel={(event) => { event.preventDefault(); onClose(); }}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="icon" aria-label="Close" onClick={onClose}>✕</button>
      </header>
      {children}
    </dialog>
  );
}

/** Names and values, in pairs. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Tile({ label, value, unit, note, href }: { label: string; value: string; unit?: string; note?: ComponentChildren; href?: string }) {
  const inside = (
    <>
      <span class="tile-label">{label}</span>
      <span class="tile-value">{value}{unit && <small> {unit}</small>}</span>
      {note && <span class="tile-note">{note}</span>}
    </>
  );
  return href ? <a class="tile" href={href}>{inside}</a> : <div class="tile">{inside}</div>;
}
