import { salesTax } from './tax.js';

export function withTax(amount, country) {
  return amount + salesTax(amount, country);
}
