import { VARIABLES, type VariableName } from './variables.ts';

export interface BackupSchedule {
  readonly everyMs: number;
  /** How many scheduled backups are kept. */
  readonly keep: number;
}

type Read = (name: VariableName) => string | undefined;

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

export const BACKUP_RULES = {
  SLUICE_BACKUP_EVERY: (given: string) =>
    parseDuration(given) === undefined
      ? `must be a number of minutes, hours or days such as 30m, 6h or 1d, not "${given}"`
      : undefined,
};

function parseDuration(given: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,3})([mhd])$/.exec(given) ?? [];
  return count === undefined || unit === undefined ? undefined : Number(count) * (UNITS_MS[unit] ?? 0);
}

/** A variable without effect is refused: the operator would believe that there are backups. */
// SPEC D23
export function checkBackups(read: Read): string[] {
  if (read('SLUICE_DATABASE_URL') === undefined) return [];
  const names = ['SLUICE_BACKUP_EVERY', 'SLUICE_BACKUP_DIR', 'SLUICE_BACKUP_KEEP'] as const;
  return names
    .filter((name) => read(name) !== undefined)
    .map((name) => `${name} is for the embedded store. This server keeps its data in PostgreSQL: use pg_dump.`);
}

export function parseSchedule(read: Read): BackupSchedule | undefined {
  const everyMs = parseDuration(read('SLUICE_BACKUP_EVERY') ?? '');
  if (everyMs === undefined) return undefined;
  return { everyMs, keep: Number(read('SLUICE_BACKUP_KEEP') ?? VARIABLES.SLUICE_BACKUP_KEEP.default) };
}
