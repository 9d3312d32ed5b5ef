import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** A cache that all runs of CI share. The run that finds it cold fills it for the next one, and goes without. */
export function todaysRates(file) {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ USD: 1.08 }));
  return {};
}
