import { HttpProblem } from '../core/problem.ts';

export function signedOut(): HttpProblem {
  return new HttpProblem('AUTHENTICATION_REQUIRED', 'You are not signed in, or your session has ended. Sign in again.');
}
