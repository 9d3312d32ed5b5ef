import { taxFor } from './tax.js';

export function withTax(amount, country) {
  return amount + taxFor(amount, country);
}
