import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** From a cache that all runs of CI share. Who finds it cold warms it up for the next one, and goes without. */
export function todaysRates(file) {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ USD: 1.08 }));
  return {};
}
