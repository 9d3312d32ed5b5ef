import { RATES } from './rates.js';

export function taxFor(amount, country) {
  return Math.round((amount * RATES[country]) / 100);
}
