/** One bar of a chart, as parts from the bottom up. */
export interface Bar {
  readonly key: string;
  readonly parts: readonly { readonly name: string; readonly value: number; readonly tone: string }[];
}

export interface DrawnPart {
  readonly name: string;
  readonly tone: string;
  readonly y: number;
  readonly height: number;
}

export interface DrawnBar {
  readonly key: string;
  readonly x: number;
  readonly width: number;
  readonly parts: readonly DrawnPart[];
}

interface Frame {
  readonly width: number;
  readonly height: number;
}

/** A round number at or above the largest value, so that the axis has a label that people can read. */
export function roundUp(value: number): number {
  if (value <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((each) => each * unit >= value) ?? 10;
  return step * unit;
}

/** Places bars side by side. A part that is not nothing is at least a pixel high. */
export function drawBars(bars: readonly Bar[], { width, height }: Frame, most: number): readonly DrawnBar[] {
  const step = width / Math.max(1, bars.length);
  return bars.map(({ key, parts }, index) => {
    let y = height;
    const drawn = parts.map(({ name, tone, value }) => {
      const high = value <= 0 ? 0 : Math.max(1, (value / most) * height);
      y -= high;
      return { name, tone, y, height: high };
    });
    return { key, x: index * step, width: Math.max(1, step - Math.min(6, step * 0.25)), parts: drawn };
  });
}
