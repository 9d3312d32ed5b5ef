import { taxFor } from './tax.js';

const FEE = 300;

export function refund(amount, country) {
  return Math.max(0, taxFor(amount, country) - FEE);
}
