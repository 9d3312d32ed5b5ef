import { InvalidArgumentError } from 'commander';

const UNIT_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
  y: 365 * 86_400_000,
};

/** `90d` from now, ahead or back, or an instant as ISO 8601 has it; as the API wants it. */
export function parseInstant(direction: 'future' | 'past'): (text: string) => string {
  return (text) => {
    const [, count, unit] = /^(\d{1,5})([mhdwy])$/.exec(text) ?? [];
    const distance = Number(count) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
    const isDate = /^\d{4}-\d{2}-\d{2}(?:T|$)/.test(text);
    const at = isDate ? Date.parse(text) : Date.now() + (direction === 'future' ? distance : -distance);
    if (Number.isNaN(at))
      throw new InvalidArgumentError('Write 90d (also m, h, w, y), or an instant such as 2027-01-31T00:00:00Z.');
    return new Date(at).toISOString();
  };
}
