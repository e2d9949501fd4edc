// Lines over the last minutes.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { clock, perSecond } from '../model/format';
import type { Sample } from '../model/series';

export interface Line {
  label: string;
  samples: readonly Sample[];
}

interface Properties {
  title: string;
  lines: readonly Line[];
  /** How values are written; rates per second if not said. */
  format?(value: number): string;
  unit?: string;
  height?: number;
  /** How far back, in milliseconds. */
  span?: number;
}

const LEFT = 44;
const BOTTOM = 18;
const TOP = 6;
/** A line is not drawn across a longer silence than this, in milliseconds. */
const SILENCE = 60_000;
/** A chart that has just begun is not wider than this, in milliseconds. */
const LEAST = 60_000;

export function LineChart({ title, lines, format = perSecond, unit = '/s', height = 150, span = 5 * 60_000 }: Properties) {
  const id = useId();
  const [hover, setHover] = useState<number | null>(null);
  const [WIDTH, setWidth] = useState(640);
  const frame = useRef<SVGSVGElement>(null);
  const latest = Math.max(0, ...lines.map((line) => line.samples[line.samples.length - 1]?.at ?? 0)) || Date.now();
  const first = Math.min(latest, ...lines.map((line) => line.samples[0]?.at ?? latest));
  const from = Math.max(latest - span, Math.min(first, latest - LEAST));
  const seen = lines.map((line) => ({ ...line, samples: line.samples.filter((sample) => sample.at >= from) }));
  const top = ceiling(Math.max(0, ...seen.flatMap((line) => line.samples.map((sample) => sample.value))));
  const x = (at: number) => LEFT + ((at - from) / (latest - from)) * (WIDTH - LEFT - 8);
  const y = (value: number) => TOP + (1 - value / top) * (height - TOP - BOTTOM);
  const at = hover === null ? latest : hover;

  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry!.contentRect.width > 0 && setWidth(Math.round(entry!.contentRect.width)));
    observer.observe(frame.current!.parentElement!);
    return () => observer.disconnect();
  }, []);
  const point = (event: PointerEvent) => {
    const box = frame.current!.getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * WIDTH;
    setHover(from + ((Math.max(LEFT, place) - LEFT) / (WIDTH - LEFT - 8)) * (latest - from));
  };

  return (
    <figure class="chart">
      <figcaption id={id}>
        <span class="chart-title">{title}{unit && <span class="unit"> {unit}</span>}</span>
        <span class="legend">
          {seen.map((line, index) => (
            <span key={line.label} class={`line-${index}`}>
              <svg width="15" height="8" aria-hidden="true"><line x1="0" y1="4" x2="15" y2="4" /></svg>
              {line.label} <b>{format(nearest(line.samples, at)?.value ?? NaN).replace('NaN', '–')}</b>
            </span>
          ))}
          {hover !== null && <span>at {clock(at)}</span>}
        </span>
      </figcaption>
      <svg
        ref={frame}
        viewBox={`0 0 ${WIDTH} ${height}`}
        height={height}
        role="img"
        aria-label={`${title}: ${summary(seen, format)}`}
        onPointerMove={point}
        onPointerLeave={() => setHover(null)}
      >
        {[0, 0.5, 1].map((part) => (
          <g key={part} class="grid">
            <line x1={LEFT} x2={WIDTH - 8} y1={y(top * part)} y2={y(top * part)} />
            <text x={LEFT - 6} y={y(top * part) + 3.5} text-anchor="end">{format(top * part)}</text>
          </g>
        ))}
        {ticks(from, latest, WIDTH - LEFT).map((tick) => (
          <text key={tick} class="tick" x={x(tick)} y={height - 4} text-anchor="middle">{latest - from > 100_000 ? clock(tick).slice(0, 5) : clock(tick)}</text>
        ))}
        {seen.map((line, index) => (
          <path key={line.label} class={`line line-${index}`} d={path(line.samples, x, y)} />
        ))}
        {hover !== null && <line class="cursor" x1={x(at)} x2={x(at)} y1={TOP} y2={height - BOTTOM} />}
      </svg>
      {seen.every((line) => line.samples.length < 2) && <p class="chart-empty">Collecting…</p>}
    </figure>
  );
}

function path(samples: readonly Sample[], x: (at: number) => number, y: (value: number) => number): string {
  let result = '';
  samples.forEach((sample, index) => {
    const broken = index === 0 || sample.at - samples[index - 1]!.at > SILENCE;
    result += `${broken ? 'M' : 'L'}${x(sample.at).toFixed(1)} ${y(sample.value).toFixed(1)}`;
  });
  return result;
}

/** A round number not below the largest value. */
export function ceiling(largest: number): number {
  if (largest <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(largest));
  return [1, 2, 5, 10].map((step) => step * unit).find((step) => step >= largest) ?? 10 * unit;
}

/** Pixels that a time below takes. */
const TICK = 58;
const STEPS = [15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_200_000];

/** Times to write below: as many as there is room for, and whole minutes where no seconds are written. */
function ticks(from: number, to: number, width: number): number[] {
  const least = Math.max(((to - from) * TICK) / width, to - from > 100_000 ? 60_000 : 0);
  const step = STEPS.find((each) => each >= least) ?? STEPS[STEPS.length - 1]!;
  const first = Math.ceil((from + step / 4) / step) * step;
  const result = [];
  for (let at = first; at < to - step / 6; at += step) result.push(at);
  return result;
}

function nearest(samples: readonly Sample[], at: number): Sample | undefined {
  return samples.reduce<Sample | undefined>((best, sample) => (!best || Math.abs(sample.at - at) < Math.abs(best.at - at) ? sample : best), undefined);
}

function summary(lines: readonly Line[], format: (value: number) => string): string {
  return lines
    .map(({ label, samples }) => {
      if (!samples.length) return `${label}: nothing yet`;
      const values = samples.map((sample) => sample.value);
      return `${label}: now ${format(values[values.length - 1]!)}, between ${format(Math.min(...values))} and ${format(Math.max(...values))}`;
    })
    .join('; ');
}
