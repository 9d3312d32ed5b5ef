import { RATES } from './rates.js';

export function salesTax(amount, country) {
  return Math.round((amount * RATES[country]) / 100);
}
